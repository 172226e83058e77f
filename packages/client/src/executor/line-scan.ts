import type { FileHandle } from "node:fs/promises";

const chunkBytes = 256 * 1024;
const lineFeed = 0x0a;

/** Where lines of a file lie. */
export interface LineScan {
  /** Line feeds in the file; the text after the last one is one line more. */
  readonly lineFeeds: number;
  readonly sizeBytes: number;
}

/** Counts the lines of a file without keeping it. */
export async function countLines(file: FileHandle, signal: AbortSignal): Promise<LineScan> {
  let lineFeeds = 0;
  let sizeBytes = 0;
  for await (const chunk of chunksOf(file, signal)) {
    sizeBytes += chunk.length;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) lineFeeds += 1;
  }
  return { lineFeeds, sizeBytes };
}

/** The bytes of lines `first` (0-based) up to, not including, `end`, without the last line feed; at most `limit` bytes. */
export async function readLines(
  file: FileHandle,
  first: number,
  end: number,
  limit: number,
  signal: AbortSignal,
): Promise<{ bytes: Buffer; cut: boolean }> {
  const kept: Buffer[] = [];
  let length = 0;
  let line = 0;
  for await (const chunk of chunksOf(file, signal)) {
    let from = line >= first ? 0 : -1;
    let to = chunk.length;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) {
      line += 1;
      if (line === first) from = at + 1;
      if (line === end) {
        to = at;
        break;
      }
    }
    if (from >= 0 && to > from) {
      // The reader uses its buffer again.
      const part = Buffer.from(chunk.subarray(from, Math.min(to, from + limit - length)));
      kept.push(part);
      length += part.length;
      if (length >= limit && to - from > part.length) return { bytes: Buffer.concat(kept), cut: true };
    }
    if (line >= end) return { bytes: Buffer.concat(kept), cut: false };
  }
  return { bytes: Buffer.concat(kept), cut: false };
}

async function* chunksOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
