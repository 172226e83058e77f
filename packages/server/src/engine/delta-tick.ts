import type { Clock } from "./ports.js";

/** How long a delta may wait for those of other runs: too short to be seen, long enough to save most syncs of the disk. */
const tickMs = 10;

/**
 * The beat in which deltas are stored. One that only goes on with a block its readers see already waits for the next
 * beat of all runs, so that one commit holds the deltas of many.
 */
export class DeltaTick {
  readonly #waiting = new Set<() => void>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls back at the next beat, once however often it is asked for. */
  join(wake: () => void): void {
    if (this.#waiting.size === 0) this.#clock.wakeAt(this.#clock.now() + tickMs, () => this.#beat());
    this.#waiting.add(wake);
  }

  #beat(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}
