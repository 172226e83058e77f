import type { BidiAppendRequest } from "./aiserver.js";
import { MalformedMessage } from "./malformed-message.js";

/**
 * The bytes of the client message that an append carries (T7): `data` as hex in either case, or `data_binary`.
 *
 * The result may share memory with `request.dataBinary`.
 *
 * @throws {MalformedMessage} naming `data` when it is not hex or when both fields are empty, and `data_binary` when
 * both are given and differ.
 */
export function appendPayload(request: Pick<BidiAppendRequest, "data" | "dataBinary">): Uint8Array {
  const { data, dataBinary } = request;
  if (data.length === 0) {
    if (dataBinary.length === 0) {
      throw new MalformedMessage("data", "data and data_binary are both empty");
    }
    return dataBinary;
  }
  const bytes = decodeHex(data, "data");
  if (dataBinary.length > 0 && !equal(bytes, dataBinary)) {
    throw new MalformedMessage("data_binary", "data and data_binary hold different bytes");
  }
  return bytes;
}

/** Lower-case hex, the form in which `BidiAppendRequest.data` carries a client message. */
export function encodeHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

function decodeHex(text: string, field: string): Uint8Array {
  if (text.length % 2 !== 0) {
    throw new MalformedMessage(field, `${field} is not hex: odd number of digits (${text.length})`);
  }
  // Node's decoder, because 16 MiB are decoded on the event loop. It stops at the first bad digit without a word,
  // and of a character beyond Latin-1 it looks only at the low byte: hence the two lengths.
  const bytes = Buffer.from(text, "hex");
  if (bytes.length * 2 !== text.length || Buffer.byteLength(text) !== text.length) {
    throw new MalformedMessage(field, `${field} is not hex: bad digit at position ${text.search(/[^0-9a-f]/i)}`);
  }
  // Not as a Buffer: its slice() would be a view where that of a Uint8Array is a copy.
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
