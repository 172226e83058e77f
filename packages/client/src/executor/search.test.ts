import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LsDirectoryTreeNode } from "@keyturn/protocol/agent";
import { expect, test } from "vitest";
import { openExecutor, type TestExecutor } from "./testing.js";

async function project(): Promise<TestExecutor> {
  const client = await openExecutor();
  const files = {
    "a.ts": "one\ntwo needle\nthree\nneedle four\nneedle needle\n",
    "src/b.ts": "Needle\n",
    "src/c.md": "needle\r\n",
    "src/deep/d.js": "nothing\n",
    "node_modules/e.ts": "needle\n",
    ".gitignore": "node_modules\n",
    ".git/config": "needle\n",
    ".github/f.yml": "needle\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(client.workspace, name, ".."), { recursive: true });
    await writeFile(join(client.workspace, name), text);
  }
  return client;
}

type Args = Record<string, unknown> & { pattern: string };

async function grep(client: TestExecutor, value: Args) {
  const answer = await client.askOnce({ case: "grepArgs", value });
  if (answer.case !== "grepResult") throw new Error(String(answer.case));
  return answer.value.result;
}

async function union(client: TestExecutor, value: Args) {
  const result = await grep(client, value);
  if (result.case !== "success") throw new Error(JSON.stringify(result.value));
  return result.value.workspaceResults[client.workspace]?.result;
}

test("content: lines by file, relative to the workspace", async () => {
  const client = await project();
  expect(await union(client, { pattern: "needle" })).toMatchObject({
    case: "content",
    value: {
      totalLines: 5,
      totalMatchedLines: 5,
      clientTruncated: false,
      matches: [
        { file: "./.github/f.yml", matches: [{ lineNumber: 1, content: "needle" }] },
        {
          file: "./a.ts",
          matches: [
            { lineNumber: 2, content: "two needle" },
            { lineNumber: 4, content: "needle four" },
            { lineNumber: 5, content: "needle needle" },
          ],
        },
        { file: "./src/c.md", matches: [{ lineNumber: 1, content: "needle" }] },
      ],
    },
  });
});

test("window, context, case, type, glob and path are applied", async () => {
  const client = await project();
  const window = await union(client, { pattern: "needle", headLimit: 2, offset: 1 });
  expect(window).toMatchObject({
    value: {
      totalLines: 5,
      clientTruncated: true,
      headLimitApplied: 2,
      offsetApplied: 1,
      matches: [{ file: "./a.ts", matches: [{ lineNumber: 2 }, { lineNumber: 4 }] }],
    },
  });
  const context = await union(client, { pattern: "two", context: 1, path: "a.ts" });
  const lines = [
    { lineNumber: 1, content: "one", isContextLine: true },
    { lineNumber: 2, isContextLine: false },
    { lineNumber: 3, isContextLine: true },
  ];
  expect(context).toMatchObject({ value: { totalMatchedLines: 1, matches: [{ file: "./a.ts", matches: lines }] } });
  const files = async (value: Args) => {
    const found = await union(client, { ...value, outputMode: "files_with_matches" });
    return found?.case === "files" ? found.value.files : found;
  };
  expect(await files({ pattern: "NEEDLE", caseInsensitive: true, type: "ts" })).toEqual(["./a.ts", "./src/b.ts"]);
  expect(await files({ pattern: "needle", glob: "*.md" })).toEqual(["./src/c.md"]);
  expect(await files({ pattern: "needle", path: join(client.workspace, "src") })).toEqual(["./src/c.md"]);
  expect(await files({ pattern: "one\\ntwo", multiline: true })).toEqual(["./a.ts"]);
  expect(await files({ pattern: "\\r$" })).toEqual(["./src/c.md"]);
  expect(await files({ pattern: "", glob: "**/*.{ts,js}" })).toEqual(["./a.ts", "./src/b.ts", "./src/deep/d.js"]);
  expect(await files({ pattern: "", glob: "**/*.none" })).toEqual([]);
});

test("counts are of matches", async () => {
  const client = await project();
  expect(await union(client, { pattern: "needle", glob: "*.ts", outputMode: "count" })).toMatchObject({
    value: { counts: [{ file: "./a.ts", count: 4 }], totalFiles: 1, totalMatches: 4 },
  });
});

test("outside the workspace file names are relative to the folder asked for", async () => {
  const client = await project();
  const other = await project();
  const result = await grep(client, { pattern: "needle", path: join(other.workspace, "src") });
  expect(result).toMatchObject({ case: "success" });
  if (result.case !== "success") return;
  expect(Object.keys(result.value.workspaceResults)).toEqual([join(other.workspace, "src")]);
});

test("bad expressions, missing paths, unknown modes and types are errors; nothing found is none", async () => {
  const client = await project();
  const error = (text: string) => ({ case: "error", value: { error: expect.stringContaining(text) as string } });
  expect(await grep(client, { pattern: "(" })).toMatchObject(error("regex parse error"));
  expect(await grep(client, { pattern: "x", path: "nowhere" })).toMatchObject(error("does not exist"));
  expect(await grep(client, { pattern: "x", outputMode: "fancy" })).toMatchObject(error("Unknown output mode"));
  expect(await grep(client, { pattern: "x", type: "klingon" })).toMatchObject(error("klingon"));
  expect(await union(client, { pattern: "absent" })).toMatchObject({ case: "content", value: { totalLines: 0 } });
});

test("a line of megabytes and many matches stay bounded", async () => {
  const client = await openExecutor();
  await writeFile(join(client.workspace, "long.txt"), `${"x".repeat(5_000_000)}needle${"y".repeat(5_000_000)}\n`);
  await writeFile(join(client.workspace, "many.txt"), "needle\n".repeat(50_000));
  const long = await union(client, { pattern: "needle", path: "long.txt" });
  if (long?.case !== "content") throw new Error(String(long?.case));
  const [line] = long.value.matches[0]?.matches ?? [];
  expect(line?.content.length).toBeLessThanOrEqual(2_000);
  expect(line?.contentTruncated).toBe(true);
  const many = await union(client, { pattern: "needle", path: "many.txt" });
  expect(many).toMatchObject({ value: { totalLines: 50_000, clientTruncated: true } });
});

function draw(node: LsDirectoryTreeNode): unknown {
  return [node.childrenFiles.map(({ name }) => name), ...node.childrenDirs.map(draw)];
}

async function list(client: TestExecutor, path: string, ignore: string[] = []) {
  const answer = await client.askOnce({ case: "lsArgs", value: { path, ignore } });
  if (answer.case !== "lsResult") throw new Error(String(answer.case));
  const { result } = answer.value;
  return result.case === "success" && result.value.directoryTreeRoot ? result.value.directoryTreeRoot : result;
}

test("ls gives a tree with counts, without what is ignored", async () => {
  const client = await project();
  const root = (await list(client, client.workspace, ["*.md"])) as LsDirectoryTreeNode;
  expect(draw(root)).toEqual([[".gitignore", "a.ts"], [["f.yml"]], [["b.ts"], [["d.js"]]]]);
  expect(root).toMatchObject({
    absPath: client.workspace,
    childrenWereProcessed: true,
    numFiles: 5,
    fullSubtreeExtensionCounts: { ".ts": 2, ".js": 1, ".yml": 1 },
  });
  expect(draw((await list(client, "node_modules")) as LsDirectoryTreeNode)).toEqual([["e.ts"]]);
  expect(draw((await list(client, "src", ["**"])) as LsDirectoryTreeNode)).toEqual([[]]);
  expect(await list(client, "nowhere")).toMatchObject({ case: "error" });
  expect(await list(client, "a.ts")).toMatchObject({ case: "error" });
});

test("ls stops at a bound and says so", async () => {
  const client = await openExecutor();
  const names = Array.from({ length: 5_100 }, (_, index) => `f${index}`);
  await Promise.all(names.map((name) => writeFile(join(client.workspace, name), "")));
  const root = (await list(client, client.workspace)) as LsDirectoryTreeNode;
  expect(root.childrenFiles.length).toBe(5_000);
  expect(root.childrenWereProcessed).toBe(false);
});
