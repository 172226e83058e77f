import {
  create,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { requireContentType } from "./content-type.js";
import type { Exchange } from "./exchange.js";
import type { Call, RpcServices } from "./services.js";

/** Most calls carry a few bytes. */
const defaultMaxBytes = 4 * 1024 * 1024;

/**
 * A Connect unary procedure, in binary or JSON as the client asks. Everything that is wrong with the request is told as
 * `invalid_argument`; what `answer` throws is left to the caller.
 */
export function unary<Input extends DescMessage, Output extends DescMessage>(
  services: RpcServices,
  input: Input,
  output: Output,
  answer: (
    request: MessageShape<Input>,
    exchange: Exchange,
  ) => MessageInitShape<Output> | Promise<MessageInitShape<Output>>,
  maxBytes = defaultMaxBytes,
): Call {
  return async (exchange) => {
    requireContentType(exchange, "application/proto", "application/json");
    const json = exchange.contentType === "application/json";
    const body = await services.bodies.read(exchange, maxBytes);
    const response = create(output, await answer(decode(input, body, json), exchange));
    if (json) exchange.send(200, { "content-type": "application/json" }, toJsonString(output, response));
    else exchange.send(200, { "content-type": "application/proto" }, toBinary(output, response));
  };
}

function decode<Input extends DescMessage>(input: Input, body: Uint8Array, json: boolean): MessageShape<Input> {
  try {
    if (!json) return fromBinary(input, body);
    return fromJsonString(input, new TextDecoder().decode(body) || "{}", { ignoreUnknownFields: true });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConnectError(
      `the body is not a valid ${input.name}: ${reason.slice(0, 300)}`,
      Code.InvalidArgument,
      undefined,
      undefined,
      cause,
    );
  }
}
