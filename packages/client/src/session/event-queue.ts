/** Events between one writer and one reader, in order. The writer hears when it should slow down, and when it may go on. */
export class EventQueue<Event> implements AsyncIterable<Event> {
  #events: Event[] = [];
  #closed = false;
  #wake: (() => void) | undefined;
  readonly #capacity: number;
  readonly #onFull: (isFull: boolean) => void;
  #isFull = false;

  /** `onFull(true)` when `capacity` events wait, `onFull(false)` once half of them are read. */
  constructor(capacity: number, onFull: (isFull: boolean) => void) {
    this.#capacity = capacity;
    this.#onFull = onFull;
  }

  push(event: Event): void {
    if (this.#closed) return;
    this.#events.push(event);
    if (!this.#isFull && this.#events.length >= this.#capacity) this.#setFull(true);
    this.#wake?.();
  }

  /** Nothing more comes; what waits is still read. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, void> {
    for (;;) {
      const batch = this.#events;
      this.#events = [];
      let left = batch.length;
      for (const event of batch) {
        yield event;
        left -= 1;
        if (this.#isFull && left + this.#events.length <= this.#capacity / 2) this.#setFull(false);
      }
      if (this.#events.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  #setFull(isFull: boolean): void {
    this.#isFull = isFull;
    this.#onFull(isFull);
  }
}
