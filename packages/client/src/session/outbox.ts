import { setMaxListeners } from "node:events";
import { backoffMs } from "./backoff.js";
import { pause, type SessionClock } from "./clock.js";
import { ServerRefusal } from "./refusal.js";
import type { RunStream, Transport } from "./transport.js";

/** What an outbox works with. */
export interface OutboxOptions {
  readonly requestId: string;
  readonly clock: SessionClock;
  readonly random: () => number;
  /** Called once, when the server refuses a message for good. */
  readonly refused: (refusal: ServerRefusal) => void;
}

interface Letter {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** Appends that may be under way at once; the server puts them in order. */
const maxUnderWay = 16;
/** Of these, bytes: a server holds only so much that waits for an earlier one. */
const maxBytesUnderWay = 8 * 1024 * 1024;

/**
 * What the client says, in order and each message once, whatever becomes of connections. Over HTTP/1.1 a message is kept until
 * the server has it on disk and is sent again with the same number and the same bytes; over HTTP/2 nothing is
 * acknowledged, so all of a run's messages are kept until its end.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #abort = new AbortController();
  /** Not acknowledged, by number, in order. */
  readonly #letters = new Map<number, Letter>();
  #nextNumber = 0;
  #lastAcknowledged: number | undefined;
  readonly #underWay = new Set<Letter>();
  #bytesUnderWay = 0;
  #transport: Transport | undefined;
  #stream: RunStream | undefined;
  #idle: (() => void)[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
    // Each append under way listens; that many are no leak.
    setMaxListeners(4 * maxUnderWay, this.#abort.signal);
  }

  /** Messages that are not acknowledged. */
  get pending(): number {
    return this.#letters.size;
  }

  /** Takes a message; the order of calls is the order of the messages. The bytes must not be changed afterwards. */
  send(bytes: Uint8Array): void {
    if (this.#abort.signal.aborted) return;
    const letter: Letter = { number: this.#nextNumber++, bytes };
    this.#letters.set(letter.number, letter);
    if (this.#stream?.send) this.#stream.send(bytes);
    else this.#pump();
  }

  /** Sends a sign of life if that is possible now. It is never kept, and no message waits behind it. */
  sendSignOfLife(bytes: Uint8Array): void {
    if (this.#stream?.send) return this.#stream.send(bytes);
    // Under a number that was used: one of its own would be missing from the log after a crash of the server.
    if (this.#lastAcknowledged === undefined || this.#abort.signal.aborted) return;
    this.#transport
      ?.append?.(this.#options.requestId, this.#lastAcknowledged, bytes, this.#abort.signal)
      .catch(() => undefined);
  }

  /** There is a connection: what is kept is sent. */
  connected(transport: Transport, stream: RunStream): void {
    this.#transport = transport;
    this.#stream = stream;
    if (stream.send) for (const { bytes } of this.#letters.values()) stream.send(bytes);
    else this.#pump();
  }

  /** The stream is gone. Appends beside it go on being tried. */
  disconnected(): void {
    this.#stream = undefined;
  }

  /** Resolves when every message is acknowledged, or nothing is sent any more; over HTTP/2 at once. */
  flushed(): Promise<void> {
    if (this.#letters.size === 0 || this.#abort.signal.aborted || this.#stream?.send) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Sends nothing any more and forgets what it has. */
  close(): void {
    this.#abort.abort();
    this.#letters.clear();
    this.#wakeIdle();
  }

  #pump(): void {
    if (!this.#transport?.append) return;
    for (const letter of this.#letters.values()) {
      const isFull = this.#underWay.size >= maxUnderWay || this.#bytesUnderWay + letter.bytes.length > maxBytesUnderWay;
      if (isFull && this.#underWay.size > 0) return;
      if (this.#underWay.has(letter)) continue;
      this.#underWay.add(letter);
      this.#bytesUnderWay += letter.bytes.length;
      void this.#deliver(letter).then(() => this.#pump());
    }
  }

  async #deliver(letter: Letter): Promise<void> {
    const { requestId, clock, random, refused } = this.#options;
    const { signal } = this.#abort;
    for (let failures = 0; !signal.aborted; ) {
      try {
        await this.#transport?.append?.(requestId, letter.number, letter.bytes, signal);
        this.#acknowledge(letter);
        return;
      } catch (cause) {
        if (cause instanceof ServerRefusal && !cause.isTemporary) {
          if (!signal.aborted) refused(cause);
          return;
        }
        failures += 1;
        await pause(clock, backoffMs(failures, random), signal);
      }
    }
  }

  #acknowledge(letter: Letter): void {
    this.#letters.delete(letter.number);
    this.#underWay.delete(letter);
    this.#bytesUnderWay -= letter.bytes.length;
    this.#lastAcknowledged = Math.max(this.#lastAcknowledged ?? 0, letter.number);
    if (this.#letters.size === 0) this.#wakeIdle();
  }

  #wakeIdle(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }
}
