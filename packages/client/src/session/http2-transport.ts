import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from "node:http2";
import { encodeEnvelope } from "@keyturn/protocol/codec";
import { type HttpAnswer, refusalOf } from "./http-answer.js";
import { readFrames } from "./read-frames.js";
import type { RunStream, ServerAddress, StreamListener, StreamRequest, Transport } from "./transport.js";

const streamType = "application/connect+proto";

/**
 * `Run`: both halves of a run in one stream. The messages are numbered by their order from 0 on, so a client that comes back
 * sends all of them again and each counts once.
 */
export class Http2Transport implements Transport {
  readonly name = "http2";
  readonly #address: ServerAddress;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  open({ requestId, position }: StreamRequest, listener: StreamListener, signal: AbortSignal): Promise<RunStream> {
    const { baseUrl, apiKey, headers } = this.#address;
    return new Promise((resolve, reject) => {
      const session = connect(new URL(baseUrl).origin);
      const leave = (): void => session.destroy();
      session.on("error", reject);
      const stream = session.request({
        ":method": "POST",
        ":path": "/agent.v1.AgentService/Run",
        "content-type": streamType,
        "connect-protocol-version": "1",
        authorization: `Bearer ${apiKey}`,
        ...headers,
        "x-request-id": requestId,
        "keyturn-position": String(position),
        "keyturn-append-number": "0",
      });
      signal.addEventListener("abort", leave, { once: true });
      stream.on("error", reject);
      stream.once("close", () => {
        signal.removeEventListener("abort", leave);
        session.close();
        reject(new Error("the connection was closed"));
      });
      stream.once("response", (answered) => {
        if (Number(answered[":status"]) === 200 && answered["content-type"] === streamType) {
          resolve(openStream(session, stream, listener));
        } else {
          void wholeAnswer(answered, stream).then((answer) => reject(refusalOf(answer)), reject);
        }
      });
    });
  }
}

function openStream(session: ClientHttp2Session, stream: ClientHttp2Stream, listener: StreamListener): RunStream {
  const deafen = readFrames(stream, listener);
  const send = (message: Uint8Array): void => {
    if (!stream.destroyed && stream.writable) stream.write(encodeEnvelope(0, message));
  };
  return {
    send,
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    close: () => {
      deafen();
      stream.close(constants.NGHTTP2_CANCEL);
      session.destroy();
    },
  };
}

async function wholeAnswer(headers: IncomingHttpHeaders, stream: ClientHttp2Stream): Promise<HttpAnswer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const contentType = headers["content-type"]?.split(";", 1)[0]?.trim() ?? "";
  return { status: Number(headers[":status"]), contentType, body: Buffer.concat(chunks) };
}
