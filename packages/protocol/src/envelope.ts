import { base64Encode } from "@bufbuild/protobuf/wire";
import { MalformedMessage } from "./malformed-message.js";

/** Bit of {@link Envelope.flags}: the body is compressed with the algorithm the stream's headers name. */
export const compressedFlag = 0b01;

/** Bit of {@link Envelope.flags}: the body is the JSON that ends the stream; nothing may follow it. */
export const endStreamFlag = 0b10;

/** One frame of a Connect stream: a flag byte, a 32-bit big-endian length, the body. */
export interface Envelope {
  readonly flags: number;
  readonly body: Uint8Array;
}

/** The error of an end-of-stream frame, in the form Connect puts into its JSON. */
export interface EndStreamError {
  /** A Connect code by its wire name: `invalid_argument`, `internal`, ... */
  readonly code: string;
  readonly message: string;
  /** Typed details, such as `aiserver.v1.ErrorDetails`: the full message name and its binary form. */
  readonly details?: readonly { readonly type: string; readonly value: Uint8Array }[];
}

const headerBytes = 5;

/** A frame as bytes. `body` is copied; a fresh array is returned. */
export function encodeEnvelope(flags: number, body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(headerBytes + body.length);
  frame[0] = flags;
  new DataView(frame.buffer).setUint32(1, body.length);
  frame.set(body, headerBytes);
  return frame;
}

/**
 * The frame that ends a stream (T8): `{}` after success, otherwise the error with its details as unpadded base64.
 * A client takes a stream that ends without this frame for a broken one.
 */
export function endStreamEnvelope(error?: EndStreamError): Uint8Array {
  return encodeEnvelope(endStreamFlag, new TextEncoder().encode(JSON.stringify(endStreamBody(error))));
}

function endStreamBody(error: EndStreamError | undefined): object {
  if (error === undefined) return {};
  const details = error.details?.map(({ type, value }) => ({ type, value: base64Encode(value, "std_raw") }));
  return { error: { code: error.code, message: error.message, details } };
}

/**
 * Cuts a byte stream into envelopes, whatever the sizes of the chunks it arrives in.
 *
 * Memory is bounded by `maxBodyBytes` and grows only as bytes really arrive: a header that promises much costs
 * nothing. Bodies are copies, so a chunk may be reused after `push`. After an error the reader is of no further use.
 */
export class EnvelopeReader {
  readonly #maxBodyBytes: number;
  readonly #header = new Uint8Array(headerBytes);
  #headerFilled = 0;
  #body = new Uint8Array(0);
  #bodyFilled = 0;
  #bodyLength = 0;

  /** `maxBodyBytes`: the longest body that is accepted. */
  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /**
   * Takes the next chunk and returns the envelopes it completes, in order.
   *
   * @throws {MalformedMessage} with field `envelope` as soon as a header announces more than `maxBodyBytes`; the
   * envelopes of that chunk which came before are lost with it.
   */
  push(chunk: Uint8Array): Envelope[] {
    const complete: Envelope[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      rest = this.#headerFilled < headerBytes ? this.#takeHeader(rest) : this.#takeBody(rest);
      if (this.#headerFilled === headerBytes && this.#bodyFilled === this.#bodyLength) {
        complete.push(this.#release());
      }
    }
    return complete;
  }

  /**
   * To be called at the end of the byte stream.
   *
   * @throws {MalformedMessage} with field `envelope` when it ended inside an envelope.
   */
  finish(): void {
    if (this.#headerFilled > 0) {
      const missing = this.#headerFilled < headerBytes ? "its header" : `${this.#bodyLength - this.#bodyFilled} bytes`;
      throw new MalformedMessage("envelope", `the stream ended inside an envelope: ${missing} missing`);
    }
  }

  #takeHeader(chunk: Uint8Array): Uint8Array {
    const part = chunk.subarray(0, headerBytes - this.#headerFilled);
    this.#header.set(part, this.#headerFilled);
    this.#headerFilled += part.length;
    if (this.#headerFilled === headerBytes) {
      this.#bodyLength = new DataView(this.#header.buffer).getUint32(1);
      if (this.#bodyLength > this.#maxBodyBytes) {
        throw new MalformedMessage(
          "envelope",
          `an envelope of ${this.#bodyLength} bytes exceeds the limit of ${this.#maxBodyBytes}`,
        );
      }
    }
    return chunk.subarray(part.length);
  }

  #takeBody(chunk: Uint8Array): Uint8Array {
    const part = chunk.subarray(0, this.#bodyLength - this.#bodyFilled);
    const filled = this.#bodyFilled + part.length;
    if (filled > this.#body.length) {
      const grown = new Uint8Array(Math.min(this.#bodyLength, Math.max(filled, this.#body.length * 2)));
      grown.set(this.#body.subarray(0, this.#bodyFilled));
      this.#body = grown;
    }
    this.#body.set(part, this.#bodyFilled);
    this.#bodyFilled = filled;
    return chunk.subarray(part.length);
  }

  #release(): Envelope {
    const envelope = { flags: this.#header[0] as number, body: this.#body.subarray(0, this.#bodyLength) };
    this.#headerFilled = 0;
    this.#body = new Uint8Array(0);
    this.#bodyFilled = 0;
    this.#bodyLength = 0;
    return envelope;
  }
}
