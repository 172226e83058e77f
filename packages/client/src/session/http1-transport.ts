import {
  Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { request as httpsRequest, Agent as SecureAgent } from "node:https";
import { create, toBinary } from "@bufbuild/protobuf";
import { BidiRequestIdSchema } from "@keyturn/protocol/agent";
import { BidiAppendRequestSchema } from "@keyturn/protocol/aiserver";
import { encodeEnvelope, encodeHex } from "@keyturn/protocol/codec";
import { answerOf, type HttpAnswer, refusalOf } from "./http-answer.js";
import { readFrames } from "./read-frames.js";
import { foreignAnswer } from "./refusal.js";
import type { RunStream, ServerAddress, StreamListener, StreamRequest, Transport } from "./transport.js";

const streamType = "application/connect+proto";
/** A server that does not answer an append within this time is asked again: the same number counts once. */
const appendTimeoutMs = 30_000;

/** `RunSSE` for what the server says, `BidiAppend` for what the client says: works through every proxy. */
export class Http1Transport implements Transport {
  readonly name = "http1";
  readonly #address: ServerAddress;
  readonly #secure: boolean;
  readonly #agent: Agent;

  constructor(address: ServerAddress) {
    this.#address = address;
    this.#secure = new URL(address.baseUrl).protocol === "https:";
    const options = { keepAlive: true, maxSockets: 32, timeout: appendTimeoutMs };
    this.#agent = this.#secure ? new SecureAgent(options) : new Agent(options);
  }

  async open(
    { requestId, position }: StreamRequest,
    listener: StreamListener,
    signal: AbortSignal,
  ): Promise<RunStream> {
    const body = toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId }));
    const { response, leave } = await this.stream("RunSSE", body, { requestId, position }, signal);
    const deafen = readFrames(response, listener);
    return {
      pause: () => void response.pause(),
      resume: () => void response.resume(),
      close: () => {
        deafen();
        leave();
      },
    };
  }

  /** Opens a server stream of the agent service; resolves with the response once it is known to be one. */
  stream(
    procedure: string,
    body: Uint8Array,
    { requestId, position }: StreamRequest,
    signal: AbortSignal,
  ): Promise<{ readonly response: IncomingMessage; leave(): void }> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#request(`/agent.v1.AgentService/${procedure}`, {
        agent: false,
        signal,
        headers: {
          "content-type": streamType,
          "connect-protocol-version": "1",
          "x-request-id": requestId,
          "keyturn-position": String(position),
        },
      });
      outgoing.once("error", reject);
      outgoing.once("response", (response: IncomingMessage) => {
        if (response.statusCode === 200 && response.headers["content-type"] === streamType) {
          return resolve({ response, leave: () => void outgoing.destroy() });
        }
        void answerOf(response).then((answer) => reject(refusalOf(answer)), reject);
      });
      outgoing.end(encodeEnvelope(0, body));
    });
  }

  async append(requestId: string, number: number, message: Uint8Array, signal: AbortSignal): Promise<void> {
    const body = create(BidiAppendRequestSchema, {
      requestId: { requestId },
      appendSeqno: BigInt(number),
      data: encodeHex(message),
    });
    const answer = await this.call("/aiserver.v1.BidiService/BidiAppend", toBinary(BidiAppendRequestSchema, body), {
      requestId,
      signal,
    });
    if (answer.status !== 200) throw refusalOf(answer);
    if (answer.contentType !== "application/proto")
      throw foreignAnswer(answer.status, "The answer is none of agent.v1.");
  }

  /** One unary call with a body of protobuf; resolves with the whole answer, whatever its status. */
  call(path: string, body: Uint8Array, more: { requestId?: string; signal?: AbortSignal } = {}): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#request(path, {
        agent: this.#agent,
        signal: more.signal,
        headers: {
          "content-type": "application/proto",
          "connect-protocol-version": "1",
          "content-length": String(body.length),
          ...(more.requestId === undefined ? {} : { "x-request-id": more.requestId }),
        },
      });
      outgoing.once("timeout", () => outgoing.destroy(new Error("the server did not answer in time")));
      outgoing.once("error", reject);
      outgoing.once("response", (response: IncomingMessage) => void answerOf(response).then(resolve, reject));
      outgoing.end(body);
    });
  }

  /** Lets go of the connections that are kept. */
  close(): void {
    this.#agent.destroy();
  }

  #request(path: string, options: RequestOptions): ClientRequest {
    const { baseUrl, apiKey, headers } = this.#address;
    return (this.#secure ? httpsRequest : httpRequest)(new URL(path, baseUrl), {
      method: "POST",
      ...options,
      headers: { authorization: `Bearer ${apiKey}`, ...headers, ...options.headers },
    });
  }
}
