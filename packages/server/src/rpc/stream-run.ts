import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { AgentServerMessageSchema } from "@keyturn/protocol/agent";
import { encodeServerMessage, withPosition } from "@keyturn/protocol/codec";
import type { Subscription } from "../engine/subscription.js";
import { fault } from "../run/faults.js";
import type { Position } from "../run/ids.js";
import { EnvelopeWriter } from "./envelope-writer.js";
import { endOfRun, endOfStream, errorToWire, faultToWire, isExpected } from "./errors.js";
import type { Exchange } from "./exchange.js";
import type { RpcServices } from "./services.js";

/** Longest request id and similar names that are taken. */
const maxIdLength = 256;

/** A heartbeat as every stream sends it; encoded once. */
export const heartbeat = encodeServerMessage(
  create(AgentServerMessageSchema, {
    message: { case: "interactionUpdate", value: { message: { case: "heartbeat", value: {} } } },
  }),
);

/**
 * The server half of a run as a response: headers at once (T4), then every frame of the run, then exactly one frame that
 * ends the stream (T8). The subscription is closed the moment the client is gone, whatever the writing waits for.
 */
export class RunStream {
  readonly #exchange: Exchange;
  readonly #services: RpcServices;
  readonly #writer: EnvelopeWriter;
  #subscription: Subscription | undefined;
  #failure: unknown;

  /** Sends the headers. */
  constructor(exchange: Exchange, services: RpcServices, streamType: string) {
    this.#exchange = exchange;
    this.#services = services;
    this.#writer = new EnvelopeWriter(exchange, services.stallMs);
    exchange.begin(200, {
      "content-type": streamType,
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    services.reports.streamOpened();
    exchange.gone.addEventListener("abort", () => this.#subscription?.close(), { once: true });
  }

  /** Sends the run from the position the client names; resolves when the response has ended. Never rejects. */
  async send(requestId: () => string | Promise<string>): Promise<void> {
    try {
      const after = positionOf(this.#exchange);
      this.#subscription = await this.#services.host.subscribe(await requestId(), after ?? 0);
      // The client may have gone, or the other half have failed, while the run was being loaded.
      if (this.#exchange.gone.aborted || this.#failure !== undefined) this.#subscription.close();
      this.#writer.end(await this.#pump(this.#subscription, after !== undefined));
    } catch (error) {
      this.#tell(error);
    } finally {
      this.#subscription?.close();
      this.#services.reports.streamClosed();
    }
  }

  /** Ends the stream with an error of the client's half; the run itself is left alone. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#subscription?.close();
  }

  /** `told`: every frame is sent with its position, so that the client can go on from there. */
  async #pump(subscription: Subscription, told: boolean): Promise<Uint8Array> {
    for (;;) {
      const item = await subscription.next();
      switch (item.kind) {
        case "frame":
          await this.#writer.write(told ? withPosition(item.bytes, item.position) : item.bytes);
          break;
        case "heartbeat":
          await this.#writer.write(heartbeat);
          break;
        case "end":
          return endOfRun(item.outcome);
        case "closed":
          if (this.#failure !== undefined) throw this.#failure;
          return endOfStream(faultToWire(letGo));
      }
    }
  }

  #tell(error: unknown): void {
    if (this.#exchange.gone.aborted) return;
    if (!isExpected(error)) this.#services.reports.problem("a stream failed", error);
    this.#writer.end(endOfStream(errorToWire(error)));
  }
}

const letGo = fault(
  "server/stopping",
  "The server let go of the stream. Connect again: the run goes on where it stood.",
);

/**
 * A request id as it may be used.
 *
 * @throws {ConnectError} `invalid_argument` naming `where` it was missing or unusable.
 */
export function checkRequestId(text: string | undefined, where: string): string {
  const id = text?.trim() ?? "";
  if (id === "") throw new ConnectError(`${where} is missing: it names the run`, Code.InvalidArgument);
  if (id.length > maxIdLength) {
    throw new ConnectError(`${where} is longer than ${maxIdLength} characters`, Code.InvalidArgument);
  }
  return id;
}

/** Where the client wants to go on, from the header `keyturn-position`; undefined when it does not care for positions. */
function positionOf(exchange: Exchange): Position | undefined {
  return countOf(exchange, "keyturn-position");
}

/**
 * The whole number in a header of ours, undefined without the header.
 *
 * @throws {ConnectError} `invalid_argument` for anything else.
 */
export function countOf(exchange: Exchange, name: string): number | undefined {
  const text = exchange.header(name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) {
    throw new ConnectError(`${name} must be a whole number of 0 or more`, Code.InvalidArgument);
  }
  return count;
}
