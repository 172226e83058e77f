import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag, decodeClientMessage, type Envelope, EnvelopeReader } from "@keyturn/protocol/codec";
import { isSignOfLife } from "../run/decide-message.js";
import type { RunOptions } from "../run/records.js";
import { requireContentType } from "./content-type.js";
import { isExpected } from "./errors.js";
import type { Exchange } from "./exchange.js";
import { inflate } from "./read-body.js";
import type { Call, RpcServices } from "./services.js";
import { checkRequestId, countOf, RunStream } from "./stream-run.js";

/**
 * `Run`: both halves of a run in one HTTP/2 stream (T5). The client's messages are appended in the order of the stream, one
 * after the other; the end of its half does not end the run, the end of the stream does what any disconnect does. A client
 * that may come back numbers its messages with `keyturn-append-number`, so that those it sends again count once.
 */
export function runBidi(services: RpcServices): Call {
  return async (exchange) => {
    requireContentType(exchange, "application/connect+proto");
    if (!exchange.http2) {
      const message = "Run needs HTTP/2; over HTTP/1.1 use RunSSE and BidiAppend";
      return exchange.sendJson(505, { code: "unimplemented", message });
    }
    const { options, streamType } = services.classify(exchange);
    const stream = new RunStream(exchange, services, streamType);
    const requestId = () => checkRequestId(exchange.header("x-request-id"), "the x-request-id header");
    const sending = stream.send(requestId);
    try {
      await appendAll(exchange, services, requestId(), options);
    } catch (error) {
      stream.fail(error);
    }
    await sending;
  };
}

async function appendAll(
  exchange: Exchange,
  services: RpcServices,
  requestId: string,
  options: RunOptions,
): Promise<void> {
  const reader = new EnvelopeReader(services.maxBodyBytes);
  let named = countOf(exchange, "keyturn-append-number");
  try {
    for await (const chunk of exchange.request.iterator({ destroyOnReturn: false })) {
      for (const envelope of reader.push(chunk as Uint8Array)) {
        const bytes = messageOf(envelope, exchange, services.maxBodyBytes);
        const startedAt = performance.now();
        // Signs of life have no number: they are in no log, and would leave a gap there.
        const number = named === undefined || isSignOfLife(decodeClientMessage(bytes)) ? "next" : named++;
        await services.host.append({ requestId, number, bytes, options });
        services.reports.appendAnswered(performance.now() - startedAt);
      }
    }
  } catch (error) {
    // A stream that was cut is no malformed message; whoever reads hears of it through `gone`.
    if (!isExpected(error) && (exchange.gone.aborted || exchange.request.destroyed)) return;
    throw error;
  }
  reader.finish();
}

function messageOf({ flags, body }: Envelope, exchange: Exchange, maxBytes: number): Uint8Array {
  if (flags === 0) return body;
  if (flags === compressedFlag) return inflate(body, exchange.header("connect-content-encoding"), maxBytes);
  throw new ConnectError(`an envelope has flags ${flags}, which a client cannot send`, Code.InvalidArgument);
}
