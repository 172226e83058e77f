import type { Terminal } from "../terminal.js";
import { exitCode } from "./exit-codes.js";

/**
 * What the user's wish to stop means at the moment. The first one does what was set for it, the second ends the process at once; a
 * terminal that is closed counts as both, once what runs has had a moment to end.
 */
export class Interrupts {
  readonly #terminal: Terminal;
  #stop: ((why: string) => void) | undefined;
  #wished = new AbortController();
  #isHungUp = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    terminal.onSignal("SIGINT", () => this.wish("interrupted by the user"));
    terminal.onSignal("SIGTERM", () => this.wish("the client was asked to stop"));
    terminal.onSignal("SIGHUP", () => {
      // Every write to a closed terminal tells it again.
      if (this.#isHungUp) return;
      this.#isHungUp = true;
      this.wish("the terminal was closed");
    });
  }

  /** The terminal is closed: nobody reads, nobody answers. */
  get isHungUp(): boolean {
    return this.#isHungUp;
  }

  /** Aborted by the next wish to stop: whatever waits for the user should not wait any more. */
  get signal(): AbortSignal {
    return this.#wished.signal;
  }

  /** The user wants to stop. */
  wish(why: string): void {
    // Processes that tools started are ended by the exit itself.
    if (!this.#stop || this.#wished.signal.aborted) return this.#terminal.exit(exitCode.cancelled);
    this.#wished.abort();
    this.#stop(why);
  }

  /** Says what a wish to stop does from now on, until the returned function is called. */
  during(stop: (why: string) => void): () => void {
    this.#stop = stop;
    this.#wished = new AbortController();
    return () => {
      this.#stop = undefined;
    };
  }
}
