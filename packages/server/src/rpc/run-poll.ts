import { create, toBinary } from "@bufbuild/protobuf";
import { BidiPollRequestSchema, BidiPollResponseSchema } from "@keyturn/protocol/agent";
import { encodeHex, endStreamEnvelope } from "@keyturn/protocol/codec";
import type { StreamItem, Subscription } from "../engine/subscription.js";
import type { Position } from "../run/ids.js";
import { requireContentType } from "./content-type.js";
import { EnvelopeWriter } from "./envelope-writer.js";
import { endOfRun } from "./errors.js";
import type { Exchange } from "./exchange.js";
import { decodeMessage, readEnvelope } from "./read-envelope.js";
import type { Call, RpcServices } from "./services.js";
import { checkRequestId, countOf, heartbeat } from "./stream-run.js";

/** Frames one poll carries at most; the client asks again for the rest. */
const framesPerPoll = 512;

/** Between two polls the client counts as there: a checkpoint made in that moment is offered to it. */
const lingerMs = 2_000;

/**
 * `RunPoll`: the same log by position, for clients behind proxies that break or buffer streams (T6). One poll answers with
 * the frames after the header `keyturn-position` (0: from the start) and ends; with none there yet it waits for the first one
 * or for the heartbeat interval, whichever comes sooner. `seqno` is a frame's position, `data` its bytes in hex; a heartbeat
 * has the position that was asked for. The last answer of a run has `eof`, and its stream ends as the run did.
 */
export function runPoll(services: RpcServices): Call {
  return async (exchange) => {
    requireContentType(exchange, "application/connect+proto");
    const after = countOf(exchange, "keyturn-position") ?? 0;
    const subscription = await services.host.subscribe(await requestIdOf(exchange, services), after);
    const close = () => subscription.close();
    exchange.gone.addEventListener("abort", close, { once: true });
    exchange.begin(200, { "content-type": "application/connect+proto", "cache-control": "no-store" });
    const writer = new EnvelopeWriter(exchange, services.stallMs);
    try {
      writer.end(await answerPoll(subscription, after, writer));
    } catch (error) {
      close();
      throw error;
    }
    if (exchange.gone.aborted) return close();
    exchange.gone.removeEventListener("abort", close);
    setTimeout(close, lingerMs).unref();
  };
}

async function answerPoll(subscription: Subscription, after: Position, writer: EnvelopeWriter): Promise<Uint8Array> {
  let position = after;
  for (let sent = 0; sent < framesPerPoll; sent += 1) {
    const item = sent === 0 ? await subscription.next() : await subscription.ready();
    if (item === undefined || item.kind === "closed") break;
    if (item.kind === "end") {
      await writer.write(pollMessage(position, new Uint8Array(), true));
      return endOfRun(item.outcome);
    }
    position = item.kind === "frame" ? item.position : position;
    await writer.write(pollMessage(position, bytesOf(item)));
    if (item.kind === "heartbeat") break;
  }
  return endStreamEnvelope();
}

function bytesOf(item: StreamItem): Uint8Array {
  return item.kind === "frame" ? item.bytes : heartbeat;
}

function pollMessage(position: Position, bytes: Uint8Array, eof?: true): Uint8Array {
  const message = { seqno: BigInt(position), data: encodeHex(bytes), ...(eof ? { eof } : {}) };
  return toBinary(BidiPollResponseSchema, create(BidiPollResponseSchema, message));
}

async function requestIdOf(exchange: Exchange, services: RpcServices): Promise<string> {
  const message = await readEnvelope(exchange, services);
  if (message === undefined) return checkRequestId(exchange.header("x-request-id"), "the x-request-id header");
  return checkRequestId(decodeMessage(BidiPollRequestSchema, message).requestId?.requestId, "request_id");
}
