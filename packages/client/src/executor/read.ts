import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ReadArgs, ReadResultSchema } from "@keyturn/protocol/agent";
import { codeOf, isMissing, isPermission, messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import { type ExecutorContext, namedPath } from "./executor-context.js";
import { fileKindOf } from "./file-kind.js";
import { limits } from "./limits.js";
import { countLines, readLines } from "./line-scan.js";

type Result = NonNullable<MessageInitShape<typeof ReadResultSchema>["result"]>;

/**
 * Reads a file. Text comes with line feeds only, while `fileSize` is the bytes on disk; images, and text that is not UTF-8,
 * come as bytes. Lines are counted from 1, negative offsets from the end, where a final line feed counts as a line; a range
 * outside the file gives the whole file. Memory stays bounded for any size.
 */
export async function executeRead(args: ReadArgs, call: Call, context: ExecutorContext): Promise<void> {
  const { absolute: path, real } = await namedPath(context, args.path);
  const answer = (result: Result) => call.answer({ case: "readResult", value: { result } });
  if (context.ignored.covers(path) || context.ignored.covers(real)) {
    answer({ case: "permissionDenied", value: { path } });
    return;
  }
  const hook = { event: "beforeReadFile", toolName: "Read", input: { file_path: path }, toolCallId: args.toolCallId };
  const reason = await context.gate.refusal({ tool: "read", path, hook });
  answer(reason === null ? await read(args, path, real, call.signal) : { case: "rejected", value: { path, reason } });
}

async function read(args: ReadArgs, path: string, real: string, signal: AbortSignal): Promise<Result> {
  let file: FileHandle | undefined;
  try {
    // Without blocking: a named pipe would keep the client waiting for a writer.
    file = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = await file.stat();
    if (stat.isDirectory()) return { case: "invalidFile", value: { path, reason: "it is a directory" } };
    if (!stat.isFile()) return { case: "invalidFile", value: { path, reason: "it is not a regular file" } };
    return await readOpen(args, path, file, stat.size, signal);
  } catch (cause) {
    const code = codeOf(cause);
    if (isMissing(code)) return { case: "fileNotFound", value: { path } };
    if (isPermission(code)) return { case: "permissionDenied", value: { path } };
    return { case: "error", value: { path, error: messageOf(cause) } };
  } finally {
    await file?.close();
  }
}

async function readOpen(
  args: ReadArgs,
  path: string,
  file: FileHandle,
  size: number,
  signal: AbortSignal,
): Promise<Result> {
  const head = Buffer.alloc(Math.min(size, 8192));
  await file.read(head, 0, head.length, 0);
  const kind = fileKindOf(head);
  if (kind === "binary")
    return { case: "invalidFile", value: { path, reason: `it is a binary file of ${size} bytes` } };
  if (kind !== "text") return readBytes(path, file, size, kind === "image" ? "image" : "UTF-16 file");
  const { lineFeeds, sizeBytes } = await countLines(file, signal);
  const totalLines = sizeBytes === 0 ? 0 : lineFeeds + 1;
  const { first, end, applied } = windowOf(args, totalLines);
  const { bytes, cut } = await readLines(file, first, end, limits.readBytes, signal);
  const content = decoded(bytes, cut);
  if (content === null) return readBytes(path, file, size, "text file that is not UTF-8");
  return {
    case: "success",
    value: {
      path,
      output: { case: "content", value: withLineFeeds(content, end < totalLines && !cut) },
      totalLines,
      fileSize: BigInt(sizeBytes),
      truncated: cut,
      rangeApplied: applied,
    },
  };
}

/** The lines asked for: 0-based, `end` not included. */
function windowOf({ offset, limit }: ReadArgs, totalLines: number): { first: number; end: number; applied: boolean } {
  const whole = { first: 0, end: totalLines, applied: false };
  const asked = offset !== undefined && offset !== 0 ? offset : 1;
  if (asked === 1 && !limit) return whole;
  const first = asked > 0 ? asked - 1 : Math.max(0, totalLines + asked);
  if (first >= totalLines) return whole;
  return { first, end: limit ? Math.min(totalLines, first + limit) : totalLines, applied: true };
}

/** `parted`: the line feed after the last line was left out, so that its carriage return stands alone. */
function withLineFeeds(content: string, parted: boolean): string {
  return (parted ? content.replace(/\r$/, "") : content).replaceAll("\r\n", "\n");
}

/** Null when it is no UTF-8. A cut may have parted a character: then its first bytes are left out. */
function decoded(bytes: Buffer, cut: boolean): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {
    return null;
  }
}

async function readBytes(path: string, file: FileHandle, size: number, what: string): Promise<Result> {
  if (size > limits.imageBytes)
    return { case: "invalidFile", value: { path, reason: `the ${what} of ${size} bytes is too large` } };
  const data = Buffer.alloc(size);
  const { bytesRead } = await file.read(data, 0, size, 0);
  return {
    case: "success",
    value: { path, output: { case: "data", value: data.subarray(0, bytesRead) }, fileSize: BigInt(size) },
  };
}
