import { toJson } from "@bufbuild/protobuf";
import { AgentServerMessageSchema } from "@keyturn/protocol/agent";
import { decodeServerMessage } from "@keyturn/protocol/codec";

/** The first difference of two values, in words: where it is, and both sides. */
export interface Difference {
  /** Path of the first differing field, such as `interactionUpdate.textDelta.text`; "" for the whole. */
  readonly field: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** What differs between two frames, undefined when their bytes are the same. */
export function frameDifference(recorded: Uint8Array | null, replayed: Uint8Array | null): Difference | undefined {
  if (sameBytes(recorded, replayed)) return undefined;
  const found = recorded && replayed ? jsonDifference(readable(recorded), readable(replayed)) : undefined;
  return found ?? { field: "", recorded: sizeOf(recorded), replayed: sizeOf(replayed) };
}

/** The first difference of two JSON values; a field that is undefined is as good as none. */
export function jsonDifference(recorded: unknown, replayed: unknown, field = ""): Difference | undefined {
  if (isObject(recorded) && isObject(replayed)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
      const path = field === "" ? name : `${field}.${name}`;
      const found = jsonDifference(recorded[name], replayed[name], path);
      if (found) return found;
    }
    return undefined;
  }
  if (Object.is(recorded, replayed)) return undefined;
  return { field, recorded: shorten(recorded), replayed: shorten(replayed) };
}

function readable(frame: Uint8Array): unknown {
  try {
    return toJson(AgentServerMessageSchema, decodeServerMessage(frame));
  } catch {
    return undefined;
  }
}

function sameBytes(left: Uint8Array | null, right: Uint8Array | null): boolean {
  if (left === null || right === null) return left === right;
  return left.byteLength === right.byteLength && left.every((byte, index) => byte === right[index]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function sizeOf(frame: Uint8Array | null): string {
  return frame === null ? "no frame" : `a frame of ${frame.byteLength} bytes that reads the same or not at all`;
}

function shorten(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}
