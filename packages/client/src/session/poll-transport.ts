import type { IncomingMessage } from "node:http";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BidiPollRequestSchema, BidiPollResponseSchema } from "@keyturn/protocol/agent";
import { decodeServerMessage, withPosition } from "@keyturn/protocol/codec";
import type { Http1Transport } from "./http1-transport.js";
import { readBodies } from "./read-frames.js";
import { ServerRefusal } from "./refusal.js";
import {
  describeFailure,
  type RunStream,
  type StreamEnd,
  type StreamListener,
  type StreamRequest,
  type Transport,
} from "./transport.js";

/** `RunPoll` and `BidiAppend`: request after request, for networks that hold streams back or cut them. */
export class PollTransport implements Transport {
  readonly name = "poll";
  readonly #http1: Http1Transport;

  constructor(http1: Http1Transport) {
    this.#http1 = http1;
  }

  async open(request: StreamRequest, listener: StreamListener, signal: AbortSignal): Promise<RunStream> {
    const polling = new Polling(this.#http1, request, listener, signal);
    await polling.begin();
    return polling;
  }

  append(requestId: string, number: number, message: Uint8Array, signal: AbortSignal): Promise<void> {
    return this.#http1.append(requestId, number, message, signal);
  }
}

/** Polls that follow each other, as if they were one stream. */
class Polling implements RunStream {
  readonly #http1: Http1Transport;
  readonly #requestId: string;
  readonly #listener: StreamListener;
  readonly #signal: AbortSignal;
  #position: number;
  #isPaused = false;
  #isClosed = false;
  #resume: (() => void) | undefined;
  #leave: (() => void) | undefined;

  constructor(http1: Http1Transport, request: StreamRequest, listener: StreamListener, signal: AbortSignal) {
    this.#http1 = http1;
    this.#requestId = request.requestId;
    this.#position = request.position;
    this.#listener = listener;
    this.#signal = signal;
  }

  /** Resolves once the server has accepted the first poll; rejects when it does not. */
  async begin(): Promise<void> {
    const response = await this.#ask();
    void this.#follow(response);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#resume?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#leave?.();
    this.#resume?.();
  }

  async #follow(first: IncomingMessage): Promise<void> {
    try {
      for (let response = first; ; response = await this.#ask()) {
        const end = await this.#read(response);
        if (this.#isClosed) return;
        if (end) return this.#listener.end(end);
        if (this.#isPaused) await new Promise<void>((resolve) => (this.#resume = resolve));
      }
    } catch (cause) {
      if (this.#isClosed) return;
      const isSaid = cause instanceof ServerRefusal;
      this.#listener.end(
        isSaid ? { kind: "error", error: cause.error } : { kind: "broken", why: describeFailure(cause) },
      );
    }
  }

  async #ask(): Promise<IncomingMessage> {
    const body = create(BidiPollRequestSchema, { requestId: { requestId: this.#requestId } });
    const at = { requestId: this.#requestId, position: this.#position };
    const { response, leave } = await this.#http1.stream(
      "RunPoll",
      toBinary(BidiPollRequestSchema, body),
      at,
      this.#signal,
    );
    this.#leave = leave;
    if (this.#isClosed) leave();
    return response;
  }

  /** Reads one answer; its end when that is the end of all, undefined when another poll may bring more. */
  #read(response: IncomingMessage): Promise<StreamEnd | undefined> {
    return new Promise((resolve) => {
      let isLast = false;
      readBodies(response, {
        body: (bytes) => {
          if (this.#isClosed) return;
          const { seqno, data, eof } = fromBinary(BidiPollResponseSchema, bytes);
          isLast ||= eof === true;
          if (data === "") return;
          const position = Number(seqno);
          const frame = Buffer.from(data, "hex");
          // A heartbeat is sent with the position that was asked for, and has none of its own.
          const isNews = position > this.#position;
          this.#position = Math.max(position, this.#position);
          const whole = isNews ? withPosition(frame, position) : frame;
          this.#listener.message(decodeServerMessage(whole), whole);
        },
        end: (end) => resolve(end.kind === "completed" && !isLast ? undefined : end),
      });
    });
  }
}
