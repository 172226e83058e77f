import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ReadSuccessSchema } from "@keyturn/protocol/agent";
import { describe, expect, test } from "vitest";
import type { Json } from "../run/ids.js";
import { fileKind } from "./file-kind.js";
import { readTool } from "./read.js";
import { excerpt } from "./read-range.js";
import { answered, begin, proceed, resultOf } from "./testing.js";
import { utf8Length } from "./text.js";

type Success = MessageInitShape<typeof ReadSuccessSchema>;

function read(args: Json, success: Success) {
  return resultOf(
    proceed(readTool, args, [answered({ case: "readResult", value: { result: { case: "success", value: success } } })]),
  );
}

const content = (value: string) => ({ case: "content", value }) as const;
const data = (value: readonly number[]) => ({ case: "data", value: new Uint8Array(value) }) as const;
const tenLines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");

describe("Read", () => {
  test("asks for the path in the workspace, with aliases and numeric strings", () => {
    expect(begin(readTool, { filePath: "a.ts", offset: "-2", limit: 5 })).toMatchObject({
      kind: "run",
      executions: [
        {
          key: "read",
          args: { case: "readArgs", value: { path: "/ws/a.ts", offset: -2, limit: 5, toolCallId: "call-1" } },
        },
      ],
    });
    expect(resultOf(begin(readTool, { path: "a", limit: 1.5 })).text).toContain('"limit" must be an integer');
  });

  test("a range is named before the lines", () => {
    const success = { output: content("line 4\nline 5"), totalLines: 10, rangeApplied: true };
    const result = read({ path: "a", offset: 4, limit: 2 }, success);
    expect(result.text).toBe("[lines 4-5 of 10]\nline 4\nline 5");
    expect(result.toolCall.tool.value).toMatchObject({
      result: { result: { value: { readRange: { startLine: 4, endLine: 5 }, totalLines: 10 } } },
    });
  });

  test("an offset behind the end is said, though the client returns the whole file", () => {
    expect(read({ path: "a", offset: 99 }, { output: content(tenLines), totalLines: 10 }).text).toBe(
      "[offset 99 is behind the end: the file has 10 lines]",
    );
  });

  test("a client that applies no range has it applied here", () => {
    expect(read({ path: "a", offset: 3, limit: 2 }, { output: content(tenLines), totalLines: 10 }).text).toBe(
      "[lines 3-4 of 10]\nline 3\nline 4",
    );
    expect(excerpt(tenLines, 10, false, { offset: -2 })).toMatchObject({
      text: "line 9\nline 10",
      range: { first: 9, last: 10 },
    });
  });

  test("lines counted from the end by the client are not numbered", () => {
    const success = { output: content("line 10\n"), totalLines: 10, rangeApplied: true };
    expect(read({ path: "a", offset: -2 }, success).text).toBe("[the last lines of a file of 10 lines]\nline 10\n");
  });

  test("CRLF is shown as LF", () => {
    expect(read({ path: "a" }, { output: content("a\r\nb\r\n"), totalLines: 2 }).text).toBe("a\nb\n");
  });

  test("I-59: a 30 MB line is cut and the model is told what to do", () => {
    const { text, toolCall } = read({ path: "a" }, { output: content("é".repeat(15_000_000)), totalLines: 1 });
    expect(utf8Length(text)).toBeLessThan(66_000);
    expect(text).toContain("[truncated: Read result exceeded 65536 bytes; showing 65536 of 30000000 bytes]");
    expect(text).toContain("search it with Grep");
    expect(toolCall.tool.value).toMatchObject({ result: { result: { value: { exceededLimit: true } } } });
  });

  test("I-59: a million empty lines are cut by lines and go on at an offset", () => {
    const { text } = read({ path: "a" }, { output: content("\n".repeat(1_000_000)), totalLines: 1_000_000 });
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain("[go on with offset 5001]");
  });

  test("a long file is cut at a line", () => {
    const lines = Array.from({ length: 4_000 }, (_, index) => `${index + 1}`.padEnd(39, "x"));
    const { text } = read({ path: "a" }, { output: content(lines.join("\n")), totalLines: 4_000 });
    expect(text).toContain(
      "\n[truncated: Read result exceeded 65536 bytes; showing 65519 of 159999 bytes]\n[go on with offset 1639]",
    );
  });

  test("I-61: NUL in text, and text full of replacement characters, are described", () => {
    for (const value of ["ELF\0\0", "\uFFFD".repeat(50)]) {
      expect(read({ path: "a" }, { output: content(value), fileSize: 99n }).text).toBe(
        "/ws/a is not text: binary file, 99 bytes. Its content is not shown.",
      );
    }
  });

  test("I-61: a PNG is an image part, an oversized one is described", () => {
    const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00];
    expect(read({ path: "a" }, { output: data(png) }).images).toEqual([
      { mediaType: "image/png", bytes: new Uint8Array(png) },
    ]);
    const large = new Uint8Array(5_000_000);
    large.set(png);
    const result = read({ path: "a" }, { output: { case: "data", value: large } });
    expect(result.images).toBeUndefined();
    expect(result.text).toContain("too large to be shown");
  });

  test("content kept in a blob of the client is an error", () => {
    expect(read({ path: "a" }, { outputBlobId: new Uint8Array([1]), fileSize: 7n })).toMatchObject({ isError: true });
  });
});

test.each([
  ["UTF-16LE", [0xff, 0xfe, 0x61, 0x00], { kind: "text", text: "a", encoding: "UTF-16LE" }],
  ["UTF-16BE", [0xfe, 0xff, 0x00, 0x61], { kind: "text", text: "a", encoding: "UTF-16BE" }],
  ["Latin-1", [0x63, 0x61, 0x66, 0xe9], { kind: "text", text: "café", encoding: "windows-1252" }],
  ["UTF-8", [0xc3, 0xa9], { kind: "text", text: "é", encoding: "UTF-8" }],
  ["JPEG", [0xff, 0xd8, 0xff, 0xe0], { kind: "image", mediaType: "image/jpeg" }],
  ["WebP", [0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50], { kind: "image", mediaType: "image/webp" }],
  ["PDF", [0x25, 0x50, 0x44, 0x46, 0x2d, 0x31], { kind: "binary", name: "PDF document" }],
  ["NUL", [0x61, 0x00], { kind: "binary", name: "binary file" }],
])("I-61: %s bytes are told apart", (_, bytes, kind) => {
  expect(fileKind(new Uint8Array(bytes))).toEqual(kind);
});
