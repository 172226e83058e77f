import { pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, gunzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { FaultError, fault } from "../run/faults.js";
import type { Exchange } from "./exchange.js";

/**
 * Reads request bodies within bounds: one body, and all of them together. What goes beyond is refused while it
 * arrives; nothing is buffered for it.
 */
export class BodyReader {
  readonly #totalBytes: number;
  #heldBytes = 0;

  /** `totalBytes`: how much all bodies that are being read may hold together. */
  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes;
  }

  /**
   * The whole body, decompressed.
   *
   * @throws {ConnectError} `resource_exhausted` beyond `maxBytes` (counted after decompression, too),
   * `unimplemented` for an unknown compression, `invalid_argument` for a broken one, `canceled` when the client left.
   * @throws {FaultError} `request/overloaded` when all bodies together are too much.
   */
  async read(exchange: Exchange, maxBytes: number): Promise<Uint8Array> {
    const announced = Number(exchange.header("content-length") ?? 0);
    if (announced > maxBytes) throw tooLarge(maxBytes);
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    try {
      for await (const chunk of decompressed(exchange) as AsyncIterable<Uint8Array>) {
        sizeBytes += chunk.length;
        this.#heldBytes += chunk.length;
        if (sizeBytes > maxBytes) throw tooLarge(maxBytes);
        if (this.#heldBytes > this.#totalBytes) throw new FaultError(fault("request/overloaded", overloaded));
        chunks.push(chunk);
      }
    } catch (error) {
      throw bodyError(error, exchange);
    } finally {
      this.#heldBytes -= sizeBytes;
    }
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, sizeBytes);
  }
}

const overloaded = "Too many large requests arrive at once. Try again in a moment.";

/**
 * The body of one envelope whose compressed flag is set.
 *
 * @throws {ConnectError} `invalid_argument` when it cannot be decompressed within `maxBytes`.
 */
export function inflate(body: Uint8Array, encoding: string | undefined, maxBytes: number): Uint8Array {
  if (encoding !== "gzip") {
    throw new ConnectError("an envelope is compressed, but connect-content-encoding is not gzip", Code.InvalidArgument);
  }
  try {
    return gunzipSync(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    throw new ConnectError("an envelope cannot be decompressed", Code.InvalidArgument, undefined, undefined, cause);
  }
}

/**
 * The request is read through an iterator that leaves it open: a body that is refused half-way must not take the
 * connection with it, for the answer goes over the same one.
 */
function decompressed(exchange: Exchange): AsyncIterable<unknown> {
  const { request } = exchange;
  const raw = request.iterator({ destroyOnReturn: false });
  switch (exchange.header("content-encoding")?.toLowerCase() ?? "identity") {
    case "identity":
      return raw;
    case "gzip":
      return pipeline(Readable.from(raw, { objectMode: false }), createGunzip(), () => {});
    case "br":
      return pipeline(Readable.from(raw, { objectMode: false }), createBrotliDecompress(), () => {});
    default:
      throw new ConnectError("the content-encoding is not known; use gzip or none", Code.Unimplemented);
  }
}

function tooLarge(maxBytes: number): ConnectError {
  return new ConnectError(`the request body exceeds the limit of ${maxBytes} bytes`, Code.ResourceExhausted);
}

function bodyError(error: unknown, exchange: Exchange): unknown {
  if (error instanceof ConnectError || FaultError.is(error)) return error;
  const { request, gone } = exchange;
  if (gone.aborted || (request.destroyed && !request.readableEnded)) {
    return new ConnectError("the client went away while sending", Code.Canceled, undefined, undefined, error);
  }
  return new ConnectError("the request body cannot be decompressed", Code.InvalidArgument, undefined, undefined, error);
}
