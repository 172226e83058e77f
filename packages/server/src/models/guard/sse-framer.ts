/** One event of a server-sent event stream, with its data lines joined. */
export interface SseEvent {
  readonly event?: string;
  readonly data: string;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Cuts bytes into events at any chunk size. Lines are found in the bytes and decoded whole, so a character
 * split between chunks survives (I-80). Accepts LF, CRLF and CR, comments, and a last event without its blank line.
 */
export class SseFramer {
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #afterReturn = false;
  #firstLine = true;
  #event: string | undefined;
  #data: string[] = [];
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #maxLineBytes: number;

  /** `maxLineBytes` bounds what one unfinished line may hold in memory. */
  constructor(maxLineBytes = 64 * 1024 * 1024) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Takes the next bytes and returns the events they complete. Throws RangeError when a line is too long. */
  push(chunk: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== lineFeed && byte !== carriageReturn) {
        this.#afterReturn = false;
        continue;
      }
      // The LF of a CRLF ends no second line.
      if (byte === lineFeed && this.#afterReturn) {
        this.#afterReturn = false;
        start = at + 1;
        continue;
      }
      this.#keep(chunk.subarray(start, at));
      start = at + 1;
      this.#afterReturn = byte === carriageReturn;
      this.#line(this.#takeLine(), events);
    }
    if (start < chunk.length) this.#keep(chunk.slice(start));
    return events;
  }

  /** Ends the stream: what is complete except for its last line ends is still an event. */
  end(): SseEvent[] {
    const events: SseEvent[] = [];
    if (this.#pendingBytes > 0) this.#line(this.#takeLine(), events);
    this.#dispatch(events);
    return events;
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > this.#maxLineBytes) throw new RangeError("A line of the event stream is too long.");
    this.#pending.push(bytes);
  }

  #takeLine(): string {
    const bytes = this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    let line = this.#decoder.decode(bytes);
    if (this.#firstLine && line.startsWith("\uFEFF")) line = line.slice(1);
    this.#firstLine = false;
    return line;
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === "") {
      this.#dispatch(events);
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data.length > 0) {
      events.push({ ...(this.#event === undefined ? {} : { event: this.#event }), data: this.#data.join("\n") });
    }
    this.#event = undefined;
    this.#data = [];
  }
}
