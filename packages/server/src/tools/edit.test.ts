import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../run/ids.js";
import { editTool } from "./edit.js";
import { isSameText, openFile } from "./file-text.js";
import { lineDiff } from "./line-diff.js";
import { replaceIn } from "./replace.js";
import { answered, begin, contextOf, proceed, resultOf } from "./testing.js";
import { utf8Length } from "./text.js";
import type { ExecReport } from "./tool.js";
import { writeTool } from "./write.js";

function readAnswer(content: string, fileSize: number): ExecReport {
  const output = { case: "content", value: content } as const;
  return answered({
    case: "readResult",
    value: { result: { case: "success", value: { output, fileSize: BigInt(fileSize) } } },
  });
}

function writeAnswer(fileContentAfterWrite?: string): ExecReport {
  return answered({ case: "writeResult", value: { result: { case: "success", value: { fileContentAfterWrite } } } });
}

/** What the tool asks the client to write after it has read `disk`, the way a client shows it. */
function written(args: Json, disk: string, more: readonly ExecReport[] = []): string {
  const shown = disk.replaceAll("\r\n", "\n");
  const move = proceed(editTool, args, [readAnswer(shown, utf8Length(disk)), ...more]);
  const args0 = move.kind === "run" ? move.executions[0]?.args : undefined;
  if (args0?.case !== "writeArgs") throw new Error("nothing is written");
  return args0.value.fileText;
}

const passage = fc.string({ unit: fc.constantFrom("a", "b", "\n", "é", "$&", "$1"), maxLength: 12 });
const needle = passage.filter((text) => text !== "");

describe("Edit", () => {
  test("reads, writes with the content returned, and needs no third step when it is", () => {
    const args = { path: "src/a.ts", old_string: "b", new_string: "$& c" };
    expect(begin(editTool, args)).toMatchObject({
      executions: [{ key: "read", args: { value: { path: "/ws/src/a.ts" } } }],
    });
    const read = readAnswer("a\nb\n", 4);
    expect(proceed(editTool, args, [read])).toMatchObject({
      executions: [
        {
          key: "write",
          args: { value: { path: "/ws/src/a.ts", fileText: "a\n$& c\n", returnFileContentAfterWrite: true } },
        },
      ],
    });
    expect(proceed(editTool, args, [read, writeAnswer()])).toMatchObject({ executions: [{ key: "verify" }] });
    for (const end of [[writeAnswer("a\n$& c\n")], [writeAnswer(), readAnswer("a\n$& c\n", 8)]]) {
      expect(resultOf(proceed(editTool, args, [read, ...end]))).toMatchObject({
        isError: false,
        text: "Edited /ws/src/a.ts: 1 replacement, +1 -1 lines.\n@@ -1,2 +1,2 @@\n a\n-b\n+$& c",
      });
    }
  });

  test("W7: a verifying read that fails leaves the edit a success, one that differs does not", () => {
    const args = { path: "a", old_string: "b", new_string: "c" };
    const gone: ExecReport = { outcome: { key: "verify", how: "closed" } };
    const before = [readAnswer("b", 1), writeAnswer()];
    expect(resultOf(proceed(editTool, args, [...before, gone]))).toMatchObject({ isError: false });
    expect(resultOf(proceed(editTool, args, [...before, readAnswer("b", 1)]))).toMatchObject({
      isError: true,
      text: expect.stringContaining("verification failed"),
    });
  });

  test("W8: what is written is the literal replacement, with CRLF and byte order mark kept", () => {
    fc.assert(
      fc.property(
        passage,
        needle,
        passage,
        passage,
        fc.boolean(),
        fc.boolean(),
        (before, from, to, after, crlf, mark) => {
          fc.pre(from !== to);
          const text = before + from + after;
          const disk = (mark ? "\uFEFF" : "") + (crlf ? text.replaceAll("\n", "\r\n") : text);
          const expected = text.split(from).join(to);
          const onDisk = (mark ? "\uFEFF" : "") + (crlf ? expected.replaceAll("\n", "\r\n") : expected);
          const args = { path: "a", old_string: from, new_string: to, replace_all: true };
          // Without a line feed in the old text nothing tells CRLF from LF.
          fc.pre(!crlf || text.includes("\n"));
          expect(written(args, disk)).toBe(onDisk);
        },
      ),
    );
  });

  test("mixed line ends are asked for and kept line by line (W8)", () => {
    const disk = "one\r\ntwo\nthree\r\nfour\n";
    const args = { path: "a", old_string: "two\nthree", new_string: "2\n2.5\n3" };
    const shown = readAnswer(disk.replaceAll("\r\n", "\n"), utf8Length(disk));
    expect(proceed(editTool, args, [shown])).toMatchObject({
      executions: [{ key: "line-ends", args: { case: "grepArgs", value: { pattern: "\\r$", path: "/ws/a" } } }],
    });
    const lines = (numbers: number[]) =>
      answered({
        case: "grepResult",
        value: {
          result: {
            case: "success",
            value: {
              workspaceResults: {
                "/ws": {
                  result: {
                    case: "content",
                    value: { matches: [{ file: "./a", matches: numbers.map((lineNumber) => ({ lineNumber })) }] },
                  },
                },
              },
            },
          },
        },
      });
    expect(written(args, disk, [lines([1, 3])])).toBe("one\r\n2\n2.5\n3\r\nfour\n");
    expect(resultOf(proceed(editTool, args, [shown, lines([1])]))).toMatchObject({
      isError: true,
      text: expect.stringContaining("cannot tell which"),
    });
  });

  test("mixed line ends that the client shows are kept by any replacement", () => {
    const line = fc.tuple(fc.constantFrom("a", "b", "ab", ""), fc.constantFrom("\n", "\r\n"));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), (lines) => {
        const disk = lines.flat().join("");
        const opened = openFile(disk, utf8Length(disk));
        if (opened.kind !== "open") throw new Error("not open");
        const replaced = replaceIn(opened.file, "a", "x", true);
        if (replaced.kind === "replaced") expect(replaced.content).toBe(disk.replaceAll("a", "x"));
        else expect(disk).not.toContain("a");
      }),
    );
  });

  test.each([
    ["hidden CRLF", "a\nb\n", 6, { kind: "open", file: { text: "a\nb\n", mark: false, ends: "crlf" } }],
    ["hidden mark", "a\n", 5, { kind: "open", file: { text: "a\n", mark: true, ends: "lf" } }],
    ["hidden mark and CRLF", "a\nb\n", 9, { kind: "open", file: { text: "a\nb\n", mark: true, ends: "crlf" } }],
    ["no size given", "a\nb\n", 0, { kind: "open", file: { text: "a\nb\n", mark: false, ends: "lf" } }],
    ["shown mark", "\uFEFFa\n", 5, { kind: "open", file: { text: "a\n", mark: true, ends: "lf" } }],
    ["Latin-1 bytes", "caf\uFFFD\n", 5, { kind: "refused" }],
    ["UTF-16", "abcdef\n", 16, { kind: "refused" }],
    ["a size that fits nothing", "abc\n", 100, { kind: "open", file: { text: "abc\n", mark: false, ends: "lf" } }],
  ])("I-61: %s", (_, content, size, opened) => {
    expect(openFile(content, size)).toMatchObject(opened);
  });

  test.each([
    ["not found", "x", "y", "Read the file again"],
    ["indented otherwise", "if (a) {\nb", "y", "differs only in white space begins at line 1"],
    ["made before", "zzz", "b", "in the file already"],
    ["not unique", "a", "y", "occurs 2 times in /ws/f (lines 1, 3)"],
  ])("%s is explained with a hint", (_, old_string, new_string, words) => {
    const result = resultOf(
      proceed(editTool, { path: "f", old_string, new_string }, [readAnswer("if (a) {\n  b\na\n", 15)]),
    );
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining(words) });
  });

  test.each([
    [{ path: "f", old_string: "a", new_string: "a" }, "identical"],
    [{ path: "f", old_string: "", new_string: "a" }, "must not be empty"],
    [{ path: "f", old_string: "a" }, '"new_string" is missing'],
    [{ path: "f\0", old_string: "a", new_string: "b" }, "NUL"],
    [{ path: "f", old_string: { a: 1 }, new_string: "b" }, "quote JSON text as a string"],
  ])("bad arguments run nothing: %j", (args, words) => {
    expect(resultOf(begin(editTool, args))).toMatchObject({ isError: true, text: expect.stringContaining(words) });
  });

  test("W16: the diff the model sees is bounded", () => {
    const before = "x\n".repeat(20_000);
    const args = { path: "f", old_string: "x", new_string: "yy", replace_all: true };
    const after = "yy\n".repeat(20_000);
    const { text } = resultOf(proceed(editTool, args, [readAnswer(before, 40_000), writeAnswer(after)]));
    expect(text).toContain("20000 replacements, +20000 -20000 lines");
    expect(text).toContain("[truncated: diff result exceeded 4096 bytes");
    expect(utf8Length(text)).toBeLessThan(5_000);
  });

  test("W8: writes to one path share a lock, however it is spelled", () => {
    const invocation = (path: string) => ({ callId: "c", name: "", args: { path, contents: "" } });
    const context = contextOf();
    expect(editTool.lock?.(invocation("src/./a.ts"), context)).toBe(
      writeTool.lock?.(invocation("/ws/src/a.ts"), context),
    );
    expect(editTool.lock?.(invocation("b.ts"))).not.toBe(editTool.lock?.(invocation("a.ts")));
  });
});

describe("Write (W8)", () => {
  test("keeps the content byte for byte", () => {
    for (const contents of ["", "a", "a\n\n", "  a\r\nb\n ", "\uFEFFx\0\n"]) {
      const missing = answered({ case: "readResult", value: { result: { case: "fileNotFound", value: {} } } });
      const move = proceed(writeTool, { path: "new.txt", contents }, [missing]);
      expect(move).toMatchObject({ executions: [{ args: { case: "writeArgs", value: { fileText: contents } } }] });
    }
  });

  test("says when a file's hidden CRLF and byte order mark are lost", () => {
    const reports = [readAnswer("a\nb\n", 9), writeAnswer("a\n")];
    expect(resultOf(proceed(writeTool, { path: "f", contents: "a\n" }, reports)).text).toBe(
      "Replaced the content of /ws/f (1 line, 2 bytes). +0 -1 lines. Note: its lines ended with CRLF and now end with LF, its byte order mark is gone.",
    );
  });

  test("refuses to replace a binary file", () => {
    const data = answered({
      case: "readResult",
      value: { result: { case: "success", value: { output: { case: "data", value: new Uint8Array([0, 1]) } } } },
    });
    expect(resultOf(proceed(writeTool, { path: "f", contents: "a" }, [data]))).toMatchObject({ isError: true });
  });

  test("a large file's content is left out of the ToolCall", () => {
    const contents = "x".repeat(300_000);
    const { toolCall } = resultOf(
      proceed(writeTool, { path: "f", contents }, [readAnswer("", 0), writeAnswer(contents)]),
    );
    expect(toolCall.tool.value).toMatchObject({
      result: { result: { value: { afterFullFileContent: "", linesAdded: 1 } } },
    });
  });
});

describe("line diff", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 }).map((all) => all.join("\n"));

  test("its counts are the difference in lines", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const { added, removed } = lineDiff(before, after);
        const count = (text: string) => text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
        expect(count(before) + added - removed).toBe(count(after));
      }),
    );
  });

  test("a rewrite too large for the smallest diff is one plain hunk", () => {
    const before = Array.from({ length: 3_000 }, (_, index) => `old ${index}`).join("\n");
    const after = Array.from({ length: 3_000 }, (_, index) => `new ${index}`).join("\n");
    expect(lineDiff(`same\n${before}`, `same\n${after}`)).toMatchObject({ added: 3_000, removed: 3_000 });
  });

  test("texts that differ in line ends or mark are the same text", () => {
    expect(isSameText("\uFEFFa\r\n", "a\n")).toBe(true);
    expect(isSameText("a", "b")).toBe(false);
  });
});
