import { fromBinary } from "@bufbuild/protobuf";
import { BidiRequestIdSchema } from "@keyturn/protocol/agent";
import { compressedFlag, EnvelopeReader, MalformedMessage } from "@keyturn/protocol/codec";
import { requireContentType } from "./content-type.js";
import type { Exchange } from "./exchange.js";
import { inflate } from "./read-body.js";
import type { Call, RpcServices } from "./services.js";
import { checkRequestId, RunStream } from "./stream-run.js";

/** A request id and its envelope need no more. */
const maxRequestBytes = 64 * 1024;

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
  const body = await services.bodies.read(exchange, maxRequestBytes);
  if (body.length === 0) return checkRequestId(exchange.header("x-request-id"), "the x-request-id header");
  const reader = new EnvelopeReader(maxRequestBytes);
  const [envelope] = reader.push(body);
  reader.finish();
  if (!envelope) throw new MalformedMessage("envelope", "the body holds no envelope");
  const compressed = (envelope.flags & compressedFlag) !== 0;
  const message = compressed
    ? inflate(envelope.body, exchange.header("connect-content-encoding"), maxRequestBytes)
    : envelope.body;
  return checkRequestId(decode(message), "request_id");
}

function decode(message: Uint8Array): string {
  try {
    return fromBinary(BidiRequestIdSchema, message).requestId;
  } catch (cause) {
    throw new MalformedMessage("request_id", "the body is not a valid BidiRequestId", { cause });
  }
}
