import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type GrepUnionResultSchema, LsDirectoryTreeNodeSchema } from "@keyturn/protocol/agent";
import { describe, expect, test } from "vitest";
import type { Json } from "../run/ids.js";
import { globTool } from "./glob.js";
import { grepTool } from "./grep.js";
import { answered, begin, contextOf, proceed, resultOf } from "./testing.js";
import { utf8Length } from "./text.js";
import type { Tool } from "./tool.js";
import { boundTree } from "./tree.js";

type Union = NonNullable<MessageInitShape<typeof GrepUnionResultSchema>["result"]>;

function search(tool: Tool, args: Json, results: { [root: string]: Union }) {
  const workspaceResults = Object.fromEntries(Object.entries(results).map(([root, result]) => [root, { result }]));
  const value = { result: { case: "success", value: { pattern: "x", workspaceResults } } } as const;
  return resultOf(proceed(tool, args, [answered({ case: "grepResult", value })]));
}

function matches(files: number, lines: number, content = "x"): Union {
  const each = Array.from({ length: lines }, (_, index) => ({ lineNumber: index + 1, content }));
  const all = Array.from({ length: files }, (_, index) => ({ file: `./f${index}.ts`, matches: each }));
  return { case: "content", value: { matches: all, totalMatchedLines: files * lines } };
}

describe("Grep", () => {
  test("sends every search argument, and neither head_limit nor offset, which the client ignores", () => {
    const args = {
      pattern: "a|b",
      path: "src",
      glob: "*.ts",
      type: "ts",
      output_mode: "content",
      "-A": 1,
      "-B": 2,
      "-C": 3,
      "-i": true,
      multiline: true,
      head_limit: 10,
      offset: 5,
    };
    const move = begin(grepTool, args);
    const sent = move.kind === "run" ? move.executions[0]?.args.value : undefined;
    expect(sent).toMatchObject({
      pattern: "a|b",
      path: "/ws/src",
      glob: "*.ts",
      type: "ts",
      outputMode: "content",
      contextAfter: 1,
      contextBefore: 2,
      context: 3,
      caseInsensitive: true,
      multiline: true,
      toolCallId: "call-1",
    });
    expect(sent).not.toHaveProperty("headLimit");
    expect(sent).not.toHaveProperty("offset");
    const { tool } = grepTool.started({ callId: "call-1", name: "Grep", args }, contextOf());
    expect(tool.value).toMatchObject({ args: { headLimit: 10, offset: 5 } });
  });

  test("head_limit and offset cut lines of output and say where to go on", () => {
    const result = search(grepTool, { pattern: "x", head_limit: 2, offset: 1 }, { "/ws": matches(2, 3) });
    expect(result.text).toBe("f0.ts:2:x\nf0.ts:3:x\n[showing entries 2-3 of 6; go on with offset 3]");
    expect(result.toolCall.tool.value).toMatchObject({
      result: {
        result: {
          value: {
            workspaceResults: {
              "/ws": {
                result: { value: { matches: [{ file: "./f0.ts", matches: [{ lineNumber: 2 }, { lineNumber: 3 }] }] } },
              },
            },
          },
        },
      },
    });
    expect(search(grepTool, { pattern: "x", offset: 9 }, { "/ws": matches(1, 2) }).text).toBe(
      "[offset 9 is behind the last of 2 entries]",
    );
  });

  test("a client that did apply them is believed", () => {
    const union: Union = { case: "files", value: { files: ["./b", "./c"], offsetApplied: 1, headLimitApplied: 2 } };
    expect(search(grepTool, { pattern: "x", offset: 1, head_limit: 2 }, { "/ws": union }).text).toBe("b\nc");
  });

  test("I-59: lines, matches a file, matches and bytes are bounded", () => {
    const wide = search(grepTool, { pattern: "x" }, { "/ws": matches(1, 1, "é".repeat(5_000)) });
    expect(wide.text).toContain("[line cut: 1024 of 5000 characters]");
    const many = search(grepTool, { pattern: "x" }, { "/ws": matches(9, 500) });
    expect(many.text.split("\n").filter((line) => line.endsWith(":x"))).toHaveLength(300);
    expect(many.text).toContain("[f0.ts: showing 100 of 500 lines]");
    expect(many.text).toContain("[showing entries 1-300 of 900; go on with offset 300]");
    const heavy = search(grepTool, { pattern: "x" }, { "/ws": matches(200, 1, "y".repeat(1_000)) });
    expect(utf8Length(heavy.text)).toBeLessThan(34_000);
    expect(heavy.text).toContain("[truncated: Grep result exceeded 32768 bytes;");
  });

  test("I-59: a 200 MB match list does not become a 200 MB answer", () => {
    const line = "z".repeat(1_000_000);
    const { text, toolCall } = search(grepTool, { pattern: "x" }, { "/ws": matches(2, 100, line) });
    expect(utf8Length(text)).toBeLessThan(40_000);
    expect(JSON.stringify(toolCall.tool.value).length).toBeLessThan(60_000);
  });

  test("I-59: two hundred thousand file names overflow nothing", () => {
    const files = Array.from({ length: 200_000 }, (_, index) => `./${index}`);
    const { text } = search(grepTool, { pattern: "x" }, { "/ws": { case: "files", value: { files } } });
    expect(text).toContain("[showing entries 1-300 of 200000; go on with offset 300]");
  });

  test("several workspaces: files outside the first are absolute", () => {
    const files = (file: string): Union => ({ case: "files", value: { files: [file] } });
    expect(search(grepTool, { pattern: "x" }, { "/ws": files("./a"), "/lib": files("./a") }).text).toBe("/lib/a\na");
  });

  test("a mode that does not exist is explained", () => {
    expect(resultOf(begin(grepTool, { pattern: "x", output_mode: "lines" })).text).toContain(
      '"output_mode" must be one of content, files_with_matches, count',
    );
  });
});

describe("Glob", () => {
  test.each([
    [{ glob_pattern: "*.ts" }, { glob: "**/*.ts" }],
    [{ glob_pattern: "./src/*.ts" }, { glob: "**/src/*.ts" }],
    [
      { globPattern: "**/*.ts", targetDirectory: "src" },
      { glob: "**/*.ts", path: "/ws/src" },
    ],
    [{ glob_pattern: "/ws/src/**/*.ts" }, { glob: "**/*.ts", path: "/ws/src" }],
    [{ glob_pattern: "C:\\ws\\src\\*.ts" }, { glob: "**/*.ts", path: "C:\\ws\\src" }],
    [{ glob_pattern: "/*.ts" }, { glob: "**/*.ts", path: "/" }],
  ])("%j asks for %j", (args, sent) => {
    expect(begin(globTool, args)).toMatchObject({
      executions: [{ args: { case: "grepArgs", value: { pattern: "", outputMode: "files_with_matches", ...sent } } }],
    });
  });

  test("I-59: at most 200 files are listed", () => {
    const files = Array.from({ length: 1_000 }, (_, index) => `./f${index}`);
    const { text, toolCall } = search(
      globTool,
      { glob_pattern: "f*" },
      { "/ws": { case: "files", value: { files, totalFiles: 1_200 } } },
    );
    expect(text.split("\n")).toHaveLength(201);
    expect(text).toContain("[showing 200 of 1200 files; use a narrower pattern]");
    expect(toolCall.tool.value).toMatchObject({
      result: { result: { value: { totalFiles: 1_200, clientTruncated: true } } },
    });
  });
});

describe("Ls", () => {
  test("I-59: a huge folder deep down does not push out the overview", () => {
    const root = create(LsDirectoryTreeNodeSchema, {
      absPath: "C:\\ws",
      childrenWereProcessed: true,
      childrenDirs: [
        {
          absPath: "C:\\ws\\big",
          childrenWereProcessed: true,
          childrenFiles: Array.from({ length: 9_000 }, (_, index) => ({ name: `${index}.txt` })),
        },
        { absPath: "C:\\ws\\src", childrenWereProcessed: true, childrenFiles: [{ name: "a.ts" }] },
      ],
    });
    const { text, root: bounded } = boundTree(root);
    expect(text.split("\n").slice(0, 2)).toEqual(["C:\\ws/", "  big/ (8751 more)"]);
    expect(text).toContain("\n  src/\n");
    expect(text).toContain("entries of listed directories not shown");
    expect(bounded.childrenDirs[0]?.childrenFiles.length).toBe(249);
    expect(bounded.childrenDirs[0]?.childrenWereProcessed).toBe(false);
  });

  test("a very deep tree is no problem", () => {
    let node = create(LsDirectoryTreeNodeSchema, { absPath: "/d" });
    for (let depth = 0; depth < 5_000; depth++)
      node = create(LsDirectoryTreeNodeSchema, { absPath: "/d", childrenDirs: [node] });
    expect(boundTree(node).text).toContain("[1 entry of listed directories not shown");
  });
});
