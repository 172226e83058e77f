import type { Exchange } from "./exchange.js";

const headerBytes = 5;
/** Beyond this a chunk is handed to the connection at once. */
const chunkBytes = 64 * 1024;

/**
 * Writes messages as Connect envelopes. Messages of one tick share a chunk; a reader without room makes `write` wait,
 * so that nothing piles up for it (I-18).
 */
export class EnvelopeWriter {
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #scheduled = false;
  #room: Promise<void> | undefined;
  readonly #exchange: Exchange;
  readonly #stallMs: number;

  /** `stallMs`: how long a reader may take no byte before its connection is cut; it can come back at its position. */
  constructor(exchange: Exchange, stallMs: number) {
    this.#exchange = exchange;
    this.#stallMs = stallMs;
  }

  /** Sends a message; the promise, if there is one, resolves when there is room for the next. */
  write(message: Uint8Array): Promise<void> | undefined {
    this.#pending.push(message);
    this.#pendingBytes += headerBytes + message.length;
    if (this.#pendingBytes >= chunkBytes) this.#flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      // Runs after the microtasks of this tick: whatever the log had ready is in the same chunk then.
      process.nextTick(() => this.#flush());
    }
    return this.#room;
  }

  /** Sends what is left and the frame that ends the stream. */
  end(frame: Uint8Array): void {
    this.#flush();
    this.#exchange.end(frame);
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#pending.length === 0) return;
    const chunk = Buffer.allocUnsafe(this.#pendingBytes);
    let offset = 0;
    for (const message of this.#pending) {
      chunk[offset] = 0;
      chunk.writeUInt32BE(message.length, offset + 1);
      chunk.set(message, offset + headerBytes);
      offset += headerBytes + message.length;
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#exchange.write(chunk) || this.#room) return;
    this.#room = this.#exchange.roomAgain(this.#stallMs).then(() => {
      this.#room = undefined;
    });
  }
}
