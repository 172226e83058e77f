import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";

/** A request of either HTTP version. */
export type WebRequest = IncomingMessage | Http2ServerRequest;
/** A response of either HTTP version. */
export type WebResponse = ServerResponse | Http2ServerResponse;

/** The part of a response that both versions have with the same meaning. */
interface Sink {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  /** Missing in HTTP/2, which sends headers as soon as they are written. */
  flushHeaders?(): void;
  write(chunk: Uint8Array): boolean;
  end(chunk?: Uint8Array | string): unknown;
  once(event: "drain", listener: () => void): unknown;
  off(event: "drain", listener: () => void): unknown;
}

/**
 * One request and its response, over HTTP/1.1 or HTTP/2. Made the moment the request arrives, so that a client that
 * goes away is noticed at any time: `gone` is aborted exactly once, when the connection (HTTP/1.1) or the stream
 * (HTTP/2) is closed, also after a normal end.
 */
export class Exchange {
  readonly request: WebRequest;
  readonly gone: AbortSignal;
  /** The path without the query. */
  readonly path: string;
  readonly query: string;
  readonly #response: WebResponse;
  #started = false;
  #headers: OutgoingHttpHeaders = {};

  constructor(request: WebRequest, response: WebResponse) {
    this.request = request;
    this.#response = response;
    const url = request.url ?? "";
    const mark = url.indexOf("?");
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? "" : url.slice(mark + 1);
    const gone = new AbortController();
    this.gone = gone.signal;
    response.once("close", () => gone.abort());
    // A connection that breaks says so through `gone`; without listeners it would end the process.
    request.on("error", () => {});
    response.on("error", () => {});
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  /** True once a response was begun: from then on an error can only be told inside of it. */
  get started(): boolean {
    return this.#started;
  }

  get http2(): boolean {
    return this.request.httpVersionMajor >= 2;
  }

  get #sink(): Sink {
    return this.#response;
  }

  /** A request header as one trimmed value; undefined when it is absent or blank. */
  header(name: string): string | undefined {
    const value = this.request.headers[name];
    const text = (Array.isArray(value) ? value[0] : value)?.trim();
    return text === "" ? undefined : text;
  }

  /** The content type without its parameters, in lower case; "" when there is none. */
  get contentType(): string {
    return (this.header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  }

  /** Adds headers to the response that is still to come. */
  addHeaders(headers: OutgoingHttpHeaders): void {
    this.#headers = { ...this.#headers, ...headers };
  }

  /** Sends a whole response. Does nothing when one was begun already or the client is gone. */
  send(status: number, headers: OutgoingHttpHeaders, body: Uint8Array | string = ""): void {
    if (this.#started || this.gone.aborted) return;
    this.#started = true;
    const sizeBytes = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    this.#sink.writeHead(status, { ...this.#headers, ...headers, "content-length": sizeBytes });
    this.#sink.end(body);
    this.#discardRest();
  }

  /** Sends a whole JSON response. */
  sendJson(status: number, body: unknown, headers: OutgoingHttpHeaders = {}): void {
    this.send(status, { "content-type": "application/json", ...headers }, JSON.stringify(body));
  }

  /** Begins a response whose body follows; its headers go out at once. */
  begin(status: number, headers: OutgoingHttpHeaders): void {
    if (this.#started || this.gone.aborted) return;
    this.#started = true;
    this.#sink.writeHead(status, { ...this.#headers, ...headers });
    this.#sink.flushHeaders?.();
  }

  /** Sends a part of the body; false when the connection has no room for more. */
  write(chunk: Uint8Array): boolean {
    return this.gone.aborted ? true : this.#sink.write(chunk);
  }

  /** Ends the body, with a last part. */
  end(chunk?: Uint8Array): void {
    if (this.gone.aborted) return;
    this.#sink.end(chunk);
    this.#discardRest();
  }

  /** Resolves when the connection has room again, or when the client is gone. Gives up on a reader that stalls. */
  roomAgain(stallMs: number): Promise<void> {
    if (this.gone.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#sink.off("drain", done);
        this.gone.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(() => this.abort(), stallMs);
      timer.unref();
      this.#sink.once("drain", done);
      this.gone.addEventListener("abort", done);
    });
  }

  /** Cuts the connection (HTTP/1.1) or the stream (HTTP/2). */
  abort(): void {
    this.#cut(constants.NGHTTP2_CANCEL);
  }

  #cut(code: number): void {
    if ("stream" in this.#response) this.#response.stream.close(code);
    else this.#response.destroy();
  }

  /**
   * What the client is still sending is read and forgotten, so that it gets to see the response: a reset would overtake
   * it. A moment after the whole response is out, or when it does not get out at all, the connection is cut.
   */
  #discardRest(): void {
    const { request } = this;
    let timer = setTimeout(() => this.abort(), lastBytesMs);
    timer.unref();
    const done = () => clearTimeout(timer);
    this.gone.addEventListener("abort", done, { once: true });
    this.#response.once("finish", () => {
      done();
      if (request.readableEnded || this.gone.aborted) return;
      timer = setTimeout(() => this.#cut(constants.NGHTTP2_NO_ERROR), lingerMs);
      timer.unref();
      request.once("end", done);
    });
    if (!request.readableEnded) request.resume();
  }
}

/** How long the end of a response may take to a reader that is slow. */
const lastBytesMs = 120_000;
/** How long a client may go on sending after it has its response. */
const lingerMs = 5_000;
