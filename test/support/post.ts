import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:http";

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What to send; the body is sent with a length. */
export interface PlainRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** One HTTP/1.1 request and its whole answer. Rejects when the connection breaks before the answer is complete. */
export function exchange(
  baseUrl: string,
  { method = "POST", path, headers = {}, body = "" }: PlainRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(baseUrl),
      { agent, method, path, headers: { "content-length": String(Buffer.byteLength(body)), ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      },
    );
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}
