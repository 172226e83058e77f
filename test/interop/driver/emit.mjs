import { writeSync } from "node:fs";

/**
 * Writes one event as a JSON line, with the time it was made at. Synchronous, so that nothing is lost when the process dies
 * right after.
 */
export function emit(event) {
  let rest = Buffer.from(`${JSON.stringify({ at: Date.now(), ...event }, replaceBytes)}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The pipe is full: the reader is another process and will get to it.
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function replaceBytes(_key, value) {
  if (typeof value === "bigint") return Number(value);
  return value;
}
