import { BidiRequestIdSchema } from "@keyturn/protocol/agent";
import { requireContentType } from "./content-type.js";
import type { Exchange } from "./exchange.js";
import { decodeMessage, readEnvelope } from "./read-envelope.js";
import type { Call, RpcServices } from "./services.js";
import { checkRequestId, RunStream } from "./stream-run.js";

/** `RunSSE`: the frames of one run over either HTTP version (T2). */
export function runSse(services: RpcServices): Call {
  return async (exchange) => {
    requireContentType(exchange, "application/connect+proto");
    const { streamType } = services.classify(exchange);
    const stream = new RunStream(exchange, services, streamType);
    await stream.send(() => requestIdOf(exchange, services));
  };
}

/** A client that tries again after a 401 sends the header and no body at all (P19). */
async function requestIdOf(exchange: Exchange, services: RpcServices): Promise<string> {
  const message = await readEnvelope(exchange, services);
  if (message === undefined) return checkRequestId(exchange.header("x-request-id"), "the x-request-id header");
  return checkRequestId(decodeMessage(BidiRequestIdSchema, message).requestId, "request_id");
}
