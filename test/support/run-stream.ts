import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect, constants } from "node:http2";
import type { Readable } from "node:stream";
import type { AgentServerMessage } from "@keyturn/protocol/agent";
import { decodeServerMessage, EnvelopeReader, encodeEnvelope, endStreamFlag } from "@keyturn/protocol/codec";

/** How a stream ended: as the server said, or broken without a word. */
export type StreamEnd =
  | { readonly kind: "completed" }
  | {
      readonly kind: "error";
      readonly code: string;
      readonly message: string;
      readonly details: readonly ErrorDetail[];
    }
  | { readonly kind: "broken"; readonly why: string };

/** A typed detail of an error, its value still in base64. */
export interface ErrorDetail {
  readonly type: string;
  readonly value: string;
}

/** What arrives on a stream, in order. */
export interface StreamListener {
  message(message: AgentServerMessage, bytes: Uint8Array): void;
  end(end: StreamEnd): void;
}

/** The server half of a run as a client holds it; over HTTP/2 also the way to send. */
export interface RunStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Sends one message in the stream; only over HTTP/2. */
  send?(bytes: Uint8Array): void;
  /** Says that nothing more is sent; only over HTTP/2. */
  endSending?(): void;
  /** Goes away without a word, as a client does that cancels. */
  close(): void;
}

/** Where and how to open a stream. */
export interface StreamRequest {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The request's body; the call's own envelope or nothing. */
  readonly body: Uint8Array;
}

const maxMessageBytes = 256 * 1024 * 1024;
const streamType = "application/connect+proto";

/** Opens `RunSSE` over HTTP/1.1; resolves with the response's headers, before any message. */
export function openRunSse({ baseUrl, headers, body }: StreamRequest, listener: StreamListener): Promise<RunStream> {
  return new Promise((resolve, reject) => {
    const url = new URL("/agent.v1.AgentService/RunSSE", baseUrl);
    const outgoing = httpRequest(
      url,
      {
        method: "POST",
        agent: false,
        headers: { "content-type": streamType, "connect-protocol-version": "1", ...headers },
      },
      (response) => {
        readFrames(response, listener);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          close: () => outgoing.destroy(),
        });
      },
    );
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

/** Opens `Run` over HTTP/2 without TLS. Resolves at the response's headers. */
export function openRun({ baseUrl, headers }: StreamRequest, listener: StreamListener): Promise<RunStream> {
  return new Promise((resolve, reject) => {
    const session = connect(baseUrl);
    session.on("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": "/agent.v1.AgentService/Run",
      "content-type": streamType,
      "connect-protocol-version": "1",
      ...headers,
    });
    stream.on("error", reject);
    stream.once("close", () => session.close());
    stream.once("response", (answered) => {
      readFrames(stream, listener);
      resolve({
        status: Number(answered[":status"]),
        headers: answered,
        send: (bytes) => void stream.write(encodeEnvelope(0, bytes)),
        endSending: () => void stream.end(),
        close: () => stream.close(constants.NGHTTP2_CANCEL),
      });
    });
  });
}

function readFrames(readable: Readable, listener: StreamListener): void {
  const reader = new EnvelopeReader(maxMessageBytes);
  let ended = false;
  const end = (how: StreamEnd) => {
    if (ended) return;
    ended = true;
    listener.end(how);
  };
  readable.on("data", (chunk: Uint8Array) => {
    for (const { flags, body } of reader.push(chunk)) {
      if (flags === endStreamFlag) end(parseEnd(body));
      else listener.message(decodeServerMessage(body), body);
    }
  });
  readable.once("end", () => end({ kind: "broken", why: "no frame ended the stream" }));
  readable.once("error", (error) => end({ kind: "broken", why: error.message }));
  readable.once("close", () => end({ kind: "broken", why: "the connection was closed" }));
}

/** Reads the JSON of the frame that ends a stream. */
export function parseEnd(body: Uint8Array): StreamEnd {
  const { error } = JSON.parse(new TextDecoder().decode(body)) as {
    error?: { code: string; message?: string; details?: ErrorDetail[] };
  };
  if (!error) return { kind: "completed" };
  return { kind: "error", code: error.code, message: error.message ?? "", details: error.details ?? [] };
}
