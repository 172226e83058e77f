import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { type AgentClientMessage, AgentClientMessageSchema, AgentServerMessageSchema } from "@keyturn/protocol/agent";
import { decodeServerMessage, encodeServerMessage, withPosition } from "@keyturn/protocol/codec";
import type { SessionClock } from "./clock.js";
import type { RunStream, StreamEnd, StreamListener, StreamRequest, Transport } from "./transport.js";

/** A clock that stands until it is moved. */
export class ManualClock implements SessionClock {
  #now = 1_000_000;
  #timers: { readonly at: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(delayMs: number, wake: () => void): () => void {
    const timer = { at: this.#now + delayMs, wake };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves on, timer by timer, and lets what each starts have its turn. */
  async move(byMs: number): Promise<void> {
    const until = this.#now + byMs;
    for (;;) {
      await settled();
      const next = this.#timers.filter(({ at }) => at <= until).sort((left, right) => left.at - right.at)[0];
      if (!next) break;
      this.#now = Math.max(this.#now, next.at);
      this.#timers = this.#timers.filter((timer) => timer !== next);
      next.wake();
    }
    this.#now = until;
    await settled();
  }
}

/** Resolves when everything that was ready has had its turn. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A server message as a plain literal. */
export type ServerMessageInit = NonNullable<MessageInitShape<typeof AgentServerMessageSchema>["message"]>;

/** One stream a session has opened. */
export class FakeStream {
  readonly request: StreamRequest;
  readonly #listener: StreamListener;
  isPaused = false;
  isClosed = false;

  constructor(request: StreamRequest, listener: StreamListener) {
    this.request = request;
    this.#listener = listener;
  }

  /** Says something; without a position as servers do that know none. */
  say(message: ServerMessageInit, position?: number): void {
    const frame = encodeServerMessage(create(AgentServerMessageSchema, { message }));
    const bytes = position === undefined ? frame : withPosition(frame, position);
    this.#listener.message(decodeServerMessage(bytes), bytes);
  }

  heartbeat(): void {
    this.say({ case: "interactionUpdate", value: { message: { case: "heartbeat", value: {} } } });
  }

  text(text: string, position?: number): void {
    this.say({ case: "interactionUpdate", value: { message: { case: "textDelta", value: { text } } } }, position);
  }

  turnEnded(position?: number): void {
    this.say(
      { case: "interactionUpdate", value: { message: { case: "turnEnded", value: { inputTokens: 3n } } } },
      position,
    );
  }

  end(end: StreamEnd): void {
    this.#listener.end(end);
  }
}

/** An append as it was tried. */
export interface TriedAppend {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly message: AgentClientMessage["message"];
}

/** A transport in memory. What it answers can be set; the default is that everything works. */
export class FakeTransport implements Transport {
  readonly name = "http1";
  readonly streams: FakeStream[] = [];
  readonly appends: TriedAppend[] = [];
  /** Called before a stream is opened; throws to refuse it. */
  onOpen: (attempt: number) => void = () => {};
  /** Called for every append; throws or rejects to refuse it. */
  onAppend: (append: TriedAppend, attempt: number) => void | Promise<void> = () => {};
  #opened = 0;

  async open(request: StreamRequest, listener: StreamListener): Promise<RunStream> {
    this.onOpen(++this.#opened);
    const stream = new FakeStream(request, listener);
    this.streams.push(stream);
    return Promise.resolve({
      pause: () => void (stream.isPaused = true),
      resume: () => void (stream.isPaused = false),
      close: () => void (stream.isClosed = true),
    });
  }

  async append(_requestId: string, number: number, bytes: Uint8Array): Promise<void> {
    const append = { number, bytes, message: fromBinary(AgentClientMessageSchema, bytes).message };
    this.appends.push(append);
    await this.onAppend(append, this.appends.length);
  }

  /** The newest stream. */
  get stream(): FakeStream {
    const stream = this.streams.at(-1);
    if (!stream) throw new Error("no stream was opened");
    return stream;
  }

  /** Appends of one case. */
  sent(kind: AgentClientMessage["message"]["case"]): TriedAppend[] {
    return this.appends.filter(({ message }) => message.case === kind);
  }
}
