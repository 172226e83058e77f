import type { Position } from "../run/ids.js";
import { type Outcome, outcomeOf } from "../run/phases.js";
import type { RunState } from "../run/state.js";
import type { LogFrame } from "./ports.js";

export type StreamItem =
  | { readonly kind: "frame"; readonly position: Position; readonly bytes: Uint8Array }
  /** Nothing was sent for the heartbeat interval. Never in the log (R4). */
  | { readonly kind: "heartbeat" }
  | { readonly kind: "end"; readonly outcome: Outcome }
  /** The reader went away, or the server lets go of it. */
  | { readonly kind: "closed" };

/** What a subscription reads from. */
export interface StreamSource {
  readonly state: RunState;
  frames(after: Position, limit: number): Promise<readonly LogFrame[]>;
}

/**
 * One reader of a run's log, at its own position and pace (R3). Nothing is queued for it: it pulls when its
 * connection has room. Close it exactly when its connection is gone; closing twice is harmless.
 */
export class Subscription {
  #position: Position;
  #buffer: LogFrame[] = [];
  #closed = false;
  #signaled = false;
  #wake: (() => void) | undefined;
  readonly #source: StreamSource;
  readonly #heartbeatMs: number;
  readonly #onClose: (subscription: Subscription) => void;

  constructor(
    source: StreamSource,
    after: Position,
    heartbeatMs: number,
    onClose: (subscription: Subscription) => void,
  ) {
    this.#source = source;
    this.#position = after;
    this.#heartbeatMs = heartbeatMs;
    this.#onClose = onClose;
  }

  /** Says that there may be something new. Signals coalesce. */
  signal(): void {
    this.#signaled = true;
    this.#wake?.();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose(this);
    this.#wake?.();
  }

  /** The next item; after `end` or `closed` there is none worth asking for. One call at a time. */
  async next(): Promise<StreamItem> {
    for (;;) {
      const item = await this.ready();
      if (item) return item;
      if (await this.#idle()) return { kind: "heartbeat" };
    }
  }

  /** The next item if it is there already, undefined when it would have to be waited for. */
  async ready(): Promise<StreamItem | undefined> {
    if (this.#closed) return { kind: "closed" };
    this.#signaled = false;
    if (this.#buffer.length === 0) this.#buffer = [...(await this.#source.frames(this.#position, 256))];
    for (let frame = this.#buffer.shift(); frame; frame = this.#buffer.shift()) {
      this.#position = frame.position;
      if (!isAnswered(this.#source.state, frame)) {
        return { kind: "frame", position: frame.position, bytes: frame.frame };
      }
    }
    const outcome = outcomeOf(this.#source.state.phase);
    return outcome && !this.#signaled ? { kind: "end", outcome } : undefined;
  }

  /** Waits for a signal; true when the heartbeat interval passed first. */
  #idle(): Promise<boolean> {
    if (this.#signaled || this.#closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const done = (heartbeat: boolean) => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve(heartbeat);
      };
      const timer = setTimeout(() => done(true), this.#heartbeatMs);
      timer.unref();
      this.#wake = () => done(false);
    });
  }
}

/** In a replay, executions and blob requests that have their answer are left out (R3). */
function isAnswered(state: RunState, frame: LogFrame): boolean {
  const body = frame.body as { exec?: number; kv?: number };
  switch (frame.kind) {
    case "exec-opened":
      return state.execs.get(body.exec ?? -1)?.status !== "open";
    case "blob-asked":
      return !state.blobs.asked.has(body.kv ?? -1);
    case "blob-offered":
      return !state.blobs.offered.has(body.kv ?? -1);
    default:
      return false;
  }
}
