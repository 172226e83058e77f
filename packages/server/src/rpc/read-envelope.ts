import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { compressedFlag, EnvelopeReader, MalformedMessage } from "@keyturn/protocol/codec";
import type { Exchange } from "./exchange.js";
import { inflate } from "./read-body.js";
import type { RpcServices } from "./services.js";

/** A request id and its envelope need no more. */
const maxRequestBytes = 64 * 1024;

/** The one message of a server stream's request, inflated; undefined for a request without any body. */
export async function readEnvelope(exchange: Exchange, services: RpcServices): Promise<Uint8Array | undefined> {
  const body = await services.bodies.read(exchange, maxRequestBytes);
  if (body.length === 0) return undefined;
  const reader = new EnvelopeReader(maxRequestBytes);
  const [envelope] = reader.push(body);
  reader.finish();
  if (!envelope) throw new MalformedMessage("envelope", "the body holds no envelope");
  const compressed = (envelope.flags & compressedFlag) !== 0;
  return compressed
    ? inflate(envelope.body, exchange.header("connect-content-encoding"), maxRequestBytes)
    : envelope.body;
}

/**
 * Decodes the request of a server stream.
 *
 * @throws {MalformedMessage} naming `request_id`, the one thing such a request is about.
 */
export function decodeMessage<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new MalformedMessage("request_id", `the body is not a valid ${schema.name}`, { cause });
  }
}
