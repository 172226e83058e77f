import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openExecutor, type TestExecutor, temporaryFolder } from "./testing.js";

const tenLines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");

async function read(client: TestExecutor, path: string, offset?: number, limit?: number) {
  const answer = await client.askOnce({ case: "readArgs", value: { path, offset, limit } });
  if (answer.case !== "readResult") throw new Error(String(answer.case));
  return answer.value.result;
}

async function write(client: TestExecutor, value: { path: string; fileText?: string; fileBytes?: Uint8Array }) {
  const returnFileContentAfterWrite = true;
  const answer = await client.askOnce({ case: "writeArgs", value: { ...value, returnFileContentAfterWrite } });
  if (answer.case !== "writeResult") throw new Error(String(answer.case));
  return answer.value.result;
}

describe("read", () => {
  test("gives the whole file with an absolute path", async () => {
    const client = await openExecutor();
    await writeFile(join(client.workspace, "a.txt"), tenLines);
    expect(await read(client, "a.txt")).toMatchObject({
      case: "success",
      value: {
        path: join(client.workspace, "a.txt"),
        output: { case: "content", value: tenLines },
        totalLines: 11,
        fileSize: BigInt(tenLines.length),
        rangeApplied: false,
      },
    });
  });

  test.each([
    [3, 2, "line 3\nline 4", true],
    [9, undefined, "line 9\nline 10\n", true],
    [-2, undefined, "line 10\n", true],
    [-4, 2, "line 8\nline 9", true],
    [-100, undefined, tenLines, true],
    [50, 2, tenLines, false],
    [undefined, 1, "line 1", true],
  ])("range %s, %s", async (offset, limit, content, rangeApplied) => {
    const client = await openExecutor();
    await writeFile(join(client.workspace, "a.txt"), tenLines);
    const result = await read(client, "a.txt", offset, limit);
    expect(result).toMatchObject({ case: "success", value: { output: { value: content }, rangeApplied } });
  });

  test("any window is the slice of the lines, whatever the line ends and sizes", async () => {
    const client = await openExecutor();
    const path = join(client.workspace, "any.txt");
    const line = fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => text.replace(/[\r\n\0]/g, ""));
    const ends = fc.constantFrom("\n", "\r\n");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(line, ends), { maxLength: 12 }),
        fc.integer({ min: -15, max: 15 }),
        fc.nat(15),
        async (parts, offset, limit) => {
          const text = parts.map(([each, end]) => each + end).join("");
          if (/^(?:GIF8)/.test(text)) return;
          await writeFile(path, text);
          const plain = text.replaceAll("\r\n", "\n");
          const lines = plain.split("\n");
          const total = plain === "" ? 0 : lines.length;
          const first = offset === 0 ? 0 : offset > 0 ? offset - 1 : Math.max(0, total + offset);
          const isWhole = first >= total;
          const expected = isWhole ? plain : lines.slice(first, limit ? first + limit : undefined).join("\n");
          const result = await read(client, path, offset, limit);
          if (result.case !== "success") throw new Error(JSON.stringify(result));
          expect(result.value.output.value).toBe(expected);
          expect(result.value.totalLines).toBe(total);
          expect(Number(result.value.fileSize)).toBe(Buffer.byteLength(text));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("hides carriage returns but not their bytes", async () => {
    const client = await openExecutor();
    await writeFile(join(client.workspace, "dos.txt"), "a\r\nb\r\n");
    const value = { output: { value: "a\nb\n" }, fileSize: 6n };
    expect(await read(client, "dos.txt")).toMatchObject({ case: "success", value });
  });

  test("a huge file comes bounded", async () => {
    const client = await openExecutor();
    const path = join(client.workspace, "huge.txt");
    const chunk = `${"x".repeat(99)}\n`.repeat(20_000);
    for (let index = 0; index < 10; index++) await writeFile(path, chunk, { flag: "a" });
    const whole = await read(client, path);
    if (whole.case !== "success") throw new Error(JSON.stringify(whole.case));
    expect(whole.value).toMatchObject({ totalLines: 200_001, truncated: true, fileSize: 20_000_000n });
    expect(whole.value.output.value?.length).toBe(16 * 1024 * 1024);
    const tail = await read(client, path, -3);
    expect(tail).toMatchObject({ value: { output: { value: `${"x".repeat(99)}\n${"x".repeat(99)}\n` } } });
  });

  test("images and text that is not UTF-8 come as bytes, other binary files not at all", async () => {
    const client = await openExecutor();
    const file = (name: string, bytes: number[]) => writeFile(join(client.workspace, name), Uint8Array.from(bytes));
    await file("a.png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]);
    await file("latin1.txt", [0x63, 0x61, 0x66, 0xe9]);
    await file("utf16.txt", [0xff, 0xfe, 0x61, 0]);
    await file("a.bin", [1, 2, 0, 3]);
    expect(await read(client, "a.png")).toMatchObject({ case: "success", value: { output: { case: "data" } } });
    expect(await read(client, "latin1.txt")).toMatchObject({ case: "success", value: { output: { case: "data" } } });
    expect(await read(client, "utf16.txt")).toMatchObject({ case: "success", value: { output: { case: "data" } } });
    expect(await read(client, "a.bin")).toMatchObject({ case: "invalidFile" });
  });

  test("tells missing files, folders, pipes, ignored and broken paths apart", async () => {
    const client = await openExecutor();
    await mkdir(join(client.workspace, "folder"));
    await writeFile(join(client.workspace, ".cursorignore"), "secret.txt\n");
    await writeFile(join(client.workspace, "secret.txt"), "x");
    await symlink("secret.txt", join(client.workspace, "link.txt"));
    execFileSync("sh", ["-c", "mkfifo pipe"], { cwd: client.workspace });
    const cases = await Promise.all(
      ["nothing", "folder", "pipe", "secret.txt", "link.txt", "folder/x/y", "secret.txt/x", "a\0b"].map(
        async (path) => {
          return (await read(client, path)).case;
        },
      ),
    );
    const denied = "permissionDenied";
    expect(cases).toEqual([
      "fileNotFound",
      "invalidFile",
      "invalidFile",
      denied,
      denied,
      "fileNotFound",
      denied,
      "error",
    ]);
  });
});

describe("write", () => {
  test("makes folders, counts lines, returns the content", async () => {
    const client = await openExecutor();
    const path = join(client.workspace, "a/b/c.txt");
    expect(await write(client, { path: "a/b/c.txt", fileText: "x\ny\n" })).toMatchObject({
      case: "success",
      value: { path, linesCreated: 2, fileSize: 4, fileContentAfterWrite: "x\ny\n" },
    });
    expect(await readFile(path, "utf8")).toBe("x\ny\n");
  });

  test("keeps the mode, writes through links and into files with several names", async () => {
    const client = await openExecutor();
    const path = join(client.workspace, "run.sh");
    await writeFile(path, "old");
    await chmod(path, 0o755);
    await symlink("run.sh", join(client.workspace, "link"));
    expect((await write(client, { path: "link", fileText: "new" })).case).toBe("success");
    expect(await readFile(path, "utf8")).toBe("new");
    expect((await stat(path)).mode & 0o777).toBe(0o755);
    await link(path, join(client.workspace, "second"));
    await write(client, { path: "second", fileText: "newer" });
    expect(await readFile(path, "utf8")).toBe("newer");
  });

  test("bytes are written as they are, and not returned", async () => {
    const client = await openExecutor();
    const result = await write(client, { path: "a.bin", fileBytes: Uint8Array.of(0, 255) });
    expect(result).toMatchObject({ case: "success", value: { fileSize: 2 } });
    expect(result.value).not.toHaveProperty("fileContentAfterWrite");
  });

  test("a folder in the way, a file as a folder, an ignored file", async () => {
    const client = await openExecutor();
    await mkdir(join(client.workspace, "folder"));
    await writeFile(join(client.workspace, "file"), "x");
    await writeFile(join(client.workspace, ".cursorignore"), "locked/\n");
    const error = { error: expect.stringContaining("EISDIR") as string };
    expect(await write(client, { path: "folder", fileText: "x" })).toMatchObject({ case: "error", value: error });
    expect((await write(client, { path: "file/x", fileText: "x" })).case).toBe("error");
    expect((await write(client, { path: "locked/x", fileText: "x" })).case).toBe("permissionDenied");
  });

  test.runIf(process.platform === "linux")("a full disk is told as such and leaves the old content", async () => {
    const client = await openExecutor();
    const result = await write(client, { path: "/dev/full", fileText: "x" });
    expect(result).toMatchObject({
      case: "error",
      value: { error: expect.stringContaining("regular file") as string },
    });
  });
});

describe("delete", () => {
  test("returns what was there", async () => {
    const client = await openExecutor();
    const path = join(client.workspace, "a.txt");
    await writeFile(path, "text");
    await mkdir(join(client.workspace, "folder"));
    const ask = (path: string) => client.askOnce({ case: "deleteArgs", value: { path } });
    const value = { path, deletedFile: path, fileSize: 4n, prevContent: "text" };
    expect(await ask("a.txt")).toMatchObject({ value: { result: { case: "success", value } } });
    expect(await ask("a.txt")).toMatchObject({ value: { result: { case: "fileNotFound" } } });
    expect(await ask("folder")).toMatchObject({
      value: { result: { case: "notFile", value: { actualType: "directory" } } },
    });
  });
});

test("a policy that refuses is told in each tool's own words", async () => {
  const policy = { decide: () => Promise.resolve({ allow: false, reason: "no" } as const) };
  const client = await openExecutor({ policy });
  const outside = join(await temporaryFolder(), "x");
  const rejected = { value: { result: { case: "rejected", value: { reason: "no" } } } };
  expect(await client.askOnce({ case: "readArgs", value: { path: outside } })).toMatchObject(rejected);
  expect(await client.askOnce({ case: "writeArgs", value: { path: outside, fileText: "x" } })).toMatchObject(rejected);
  expect(await client.askOnce({ case: "deleteArgs", value: { path: outside } })).toMatchObject(rejected);
  expect(await client.askOnce({ case: "lsArgs", value: { path: outside } })).toMatchObject(rejected);
  expect(await client.askOnce({ case: "grepArgs", value: { pattern: "x" } })).toMatchObject({
    value: { result: { case: "error", value: { error: "no" } } },
  });
});
