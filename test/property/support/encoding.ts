import type { RunRecord } from "../../../packages/server/src/run/records.js";

/** One stored record, as a log would give it back. */
export interface LogEntry {
  readonly at: number;
  readonly record: RunRecord;
}

/** The text form of a log entry: what survives a crash is exactly what is in here. */
export function encodeEntry(entry: LogEntry): string {
  return canonical(entry);
}

/** Reads an entry back from its text form. */
export function decodeEntry(text: string): LogEntry {
  return JSON.parse(text, (_key, value: unknown) => (isHex(value) ? hexBytes(value.$hex) : value)) as LogEntry;
}

/** A text that is equal for deeply equal values; fields that are absent and fields that are undefined are the same. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => {
    if (one instanceof Map) return { $map: [...one] };
    if (one instanceof Set) return { $set: [...one] };
    if (one instanceof Uint8Array) return { $hex: bytesHex(one) };
    return one;
  });
}

/** Lower-case hex of bytes; the toy blobs are named by it. */
export function bytesHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
  return hex;
}

/** The bytes of a hex text. */
export function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function isHex(value: unknown): value is { readonly $hex: string } {
  return typeof value === "object" && value !== null && "$hex" in value;
}
