import { createHash } from "node:crypto";
import { FaultError } from "../../packages/server/src/run/faults.js";
import type { Blob } from "../../packages/server/src/run/ids.js";
import type { StoredRecord } from "../../packages/server/src/store/port.js";

/** A record with some of everything. */
export function record(position: number, more: Partial<StoredRecord> = {}): StoredRecord {
  return {
    position,
    fence: 1,
    at: 1_000 + position,
    kind: "frame-published",
    body: { text: `record ${position}`, list: [1, null, "ü"] },
    payload: null,
    frame: Uint8Array.of(position % 256, 0, 255),
    ...more,
  };
}

/** A blob under its name. */
export function blob(bytes: Uint8Array): Blob {
  return { id: createHash("sha256").update(bytes).digest("hex"), bytes };
}

/** The code of the fault that the promise rejects with, or "no fault". */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "no fault";
  } catch (error) {
    return FaultError.is(error) ? error.fault.code : `not a fault: ${String(error)}`;
  }
}
