import { Code, ConnectError } from "@connectrpc/connect";
import { clientCalls, emptyAnswer } from "./client-calls.js";
import { UnsupportedMediaType } from "./content-type.js";
import { conversationCalls } from "./conversation-calls.js";
import { endOfStream, errorToWire, isExpected, unaryError } from "./errors.js";
import type { Exchange } from "./exchange.js";
import { modelCalls } from "./model-calls.js";
import { runBidi } from "./run-bidi.js";
import { runPoll } from "./run-poll.js";
import { runSse } from "./run-sse.js";
import type { Call, RpcServices } from "./services.js";

const agentPrefix = "/agent.v1.AgentService/";
const clientPrefix = "/aiserver.v1.";

/** The procedures a client can call. */
export interface RpcRouter {
  /** Whether the path is one of a procedure, known or not. */
  owns(path: string): boolean;
  /** Answers a call, whatever becomes of it. Never rejects. */
  handle(exchange: Exchange): Promise<void>;
}

/** Whether errors on this path are told in Connect's form. */
export function isProcedure(path: string): boolean {
  return path.startsWith("/agent.v1.") || path.startsWith(clientPrefix);
}

/** Builds the router over all procedures. */
export function createRpcRouter(services: RpcServices): RpcRouter {
  const agent = new Map<string, Call>(
    Object.entries({
      RunSSE: runSse(services),
      Run: runBidi(services),
      RunPoll: runPoll(services),
      GetSignedUrlForAttachedMedia: unimplemented("this server stores no attachments; send them inline"),
      ...modelCalls(services),
      ...conversationCalls(services),
    }),
  );
  const client = new Map(Object.entries(clientCalls(services)));

  const find = (path: string): Call => {
    if (path.startsWith(agentPrefix)) {
      const name = path.slice(agentPrefix.length);
      return agent.get(name) ?? unimplemented("there is no such procedure");
    }
    const name = path.slice(clientPrefix.length);
    if (!path.startsWith(clientPrefix) || !/^\w+\/\w+$/.test(name)) return unimplemented("there is no such procedure");
    return client.get(name) ?? emptyAnswer(services, name);
  };

  return {
    owns: isProcedure,
    async handle(exchange) {
      if (exchange.request.method !== "POST") {
        return exchange.sendJson(
          405,
          { code: "unimplemented", message: "procedures are called by POST" },
          { allow: "POST" },
        );
      }
      try {
        await find(exchange.path)(exchange);
      } catch (error) {
        if (!isExpected(error) && !(error instanceof UnsupportedMediaType)) {
          services.reports.problem(`a call failed: ${exchange.path}`, error);
        }
        sendError(exchange, error);
      }
    },
  };
}

function unimplemented(words: string): Call {
  return async () => {
    throw new ConnectError(words, Code.Unimplemented);
  };
}

/** The error in the form the caller reads: at the end of a stream, or as the JSON of a unary call. */
function sendError(exchange: Exchange, error: unknown): void {
  if (error instanceof UnsupportedMediaType) {
    const body = { code: "invalid_argument", message: error.message };
    return exchange.sendJson(415, body, { "accept-post": error.accepted.join(", ") });
  }
  const wire = errorToWire(error);
  if (exchange.contentType.startsWith("application/connect+")) {
    // The frame that ends a stream is JSON in either encoding.
    const type =
      exchange.contentType === "application/connect+json" ? exchange.contentType : "application/connect+proto";
    return exchange.send(200, { "content-type": type }, endOfStream(wire));
  }
  const { status, body } = unaryError(wire);
  exchange.sendJson(status, body);
}
