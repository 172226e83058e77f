import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicProtocol } from "./anthropic.js";
import { googleProtocol } from "./google.js";
import { chatProtocol } from "./openai-chat.js";
import { responsesProtocol } from "./openai-responses.js";
import type {
  CapturedRequest,
  JsonObject,
  ScriptedAnswer,
  VendorProtocol,
  VendorScript,
  VendorType,
} from "./script.js";

// Node 20 has no such symbol of its own; `await using` is compiled down to it.
(Symbol as { asyncDispose: symbol }).asyncDispose ??= Symbol("Symbol.asyncDispose");

/** One connection's life as the vendor saw it. */
export interface VendorConnection {
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  closedAt?: number;
  /** The client closed it before the answer was whole. */
  cutByClient: boolean;
}

/** A running fake vendor on the loopback. */
export interface Vendor extends AsyncDisposable {
  /** What a provider's baseURL is to be set to. */
  readonly baseURL: string;
  /** All requests so far, refused ones too. */
  readonly requests: readonly CapturedRequest[];
  /** One entry a request. */
  readonly connections: readonly VendorConnection[];
  /** Resolves when the client closes the connection of an unfinished answer; at once when it already has. */
  clientClosed(): Promise<VendorConnection>;
  close(): Promise<void>;
}

const protocols: Record<VendorType, VendorProtocol> = {
  openai: responsesProtocol,
  anthropic: anthropicProtocol,
  google: googleProtocol,
  "openai-compatible": chatProtocol,
};

/** Starts a fake vendor that answers by the script and refuses what the real one refuses. */
export async function startVendor(type: VendorType, script: VendorScript): Promise<Vendor> {
  const vendor = new FakeVendor(protocols[type], script);
  await vendor.listen();
  return vendor;
}

class FakeVendor implements Vendor {
  readonly requests: CapturedRequest[] = [];
  readonly connections: VendorConnection[] = [];
  readonly #protocol: VendorProtocol;
  readonly #script: VendorScript;
  readonly #server: Server;
  /** Answers the script itself broke off. */
  readonly #cutHere = new WeakSet<ServerResponse>();
  readonly #waiting: ((connection: VendorConnection) => void)[] = [];

  constructor(protocol: VendorProtocol, script: VendorScript) {
    this.#protocol = protocol;
    this.#script = script;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  get baseURL(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${this.#protocol.basePath}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async clientClosed(): Promise<VendorConnection> {
    const closed = this.connections.find((connection) => connection.cutByClient);
    return closed ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#track(response);
    const request = await capture(incoming);
    const index = this.requests.push(request) - 1;
    const path = request.url.split("?")[0] ?? "";
    if (!this.#protocol.accepts(path)) {
      sendError(
        response,
        404,
        this.#protocol.errorBody({ status: 404, type: "not_found_error", message: `No route ${path}` }),
      );
      return;
    }
    const refusal = this.#protocol.refuse(request);
    if (refusal) {
      sendError(response, refusal.status, this.#protocol.errorBody(refusal));
      return;
    }
    const answer = typeof this.#script === "function" ? this.#script(request, index) : this.#script[index];
    if (!answer) {
      const message = `The script has no answer number ${index}`;
      sendError(response, 400, this.#protocol.errorBody({ status: 400, type: "script_exhausted", message }));
      return;
    }
    if (answer.delayMs) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    await this.#answer(answer, request, response);
  }

  async #answer(answer: ScriptedAnswer, request: CapturedRequest, response: ServerResponse): Promise<void> {
    const { status = 200 } = answer;
    if (status !== 200 && !answer.body) {
      const { type = "api_error", message = `Scripted error ${status}` } = answer.error ?? {};
      sendError(response, status, this.#protocol.errorBody({ status, type, message }), answer.headers);
      return;
    }
    response.writeHead(status, { "content-type": "text/event-stream", ...answer.headers });
    response.flushHeaders();
    const { content, end } = answer.body ? { content: answer.body, end: [] } : this.#protocol.events(answer, request);
    for (const chunk of inChunks(content, answer.chunkBytes)) await write(response, chunk);
    if (answer.hang) return;
    await answer.holdUntil;
    if (answer.ending === "cut") {
      this.#cutHere.add(response);
      response.destroy();
      return;
    }
    if (answer.ending !== "eof") for (const chunk of inChunks(end, answer.chunkBytes)) await write(response, chunk);
    response.end();
  }

  #track(response: ServerResponse): void {
    const connection: VendorConnection = { openedAt: Date.now(), cutByClient: false };
    this.connections.push(connection);
    response.on("close", () => {
      connection.closedAt = Date.now();
      connection.cutByClient = !response.writableFinished && !this.#cutHere.has(response);
      if (connection.cutByClient) for (const resolve of this.#waiting.splice(0)) resolve(connection);
    });
  }
}

async function capture(incoming: IncomingMessage): Promise<CapturedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const body = text === "" ? {} : (JSON.parse(text) as JsonObject);
  return { url: incoming.url ?? "", headers: incoming.headers, body };
}

function inChunks(parts: readonly (string | Uint8Array)[], chunkBytes: number | undefined): Uint8Array[] {
  const encoded = parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part));
  if (chunkBytes === undefined) return encoded;
  const all = Buffer.concat(encoded);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < all.length; at += chunkBytes) chunks.push(all.subarray(at, at + chunkBytes));
  return chunks;
}

async function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
}

function sendError(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
