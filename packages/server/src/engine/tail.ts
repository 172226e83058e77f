import type { Position } from "../run/ids.js";
import type { LogFrame } from "./ports.js";

/**
 * The newest frames of a run, kept in memory so that live subscribers do not read the disk. Bounded: a subscriber
 * that falls behind reads the log (I-18).
 */
export class Tail {
  #frames: LogFrame[] = [];
  #bytes = 0;
  /** Every frame after this position, up to the newest, is in memory. */
  #after: Position;
  readonly #capBytes: number;
  readonly #capCount: number;

  constructor(after: Position, capBytes = 512 * 1024, capCount = 4096) {
    this.#after = after;
    this.#capBytes = capBytes;
    this.#capCount = capCount;
  }

  push(frame: LogFrame): void {
    this.#frames.push(frame);
    this.#bytes += frame.frame.byteLength;
    if (this.#bytes > this.#capBytes || this.#frames.length > this.#capCount) this.#forgetHalf();
  }

  /** Up to `limit` frames after a position, or undefined when some of them are no longer in memory. */
  since(position: Position, limit: number): readonly LogFrame[] | undefined {
    if (position < this.#after) return undefined;
    let low = 0;
    let high = this.#frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#frames[middle]?.position ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return this.#frames.slice(low, low + limit);
  }

  #forgetHalf(): void {
    const count = Math.max(1, this.#frames.length >> 1);
    const forgotten = this.#frames.splice(0, count);
    for (const frame of forgotten) this.#bytes -= frame.frame.byteLength;
    this.#after = forgotten.at(-1)?.position ?? this.#after;
  }
}
