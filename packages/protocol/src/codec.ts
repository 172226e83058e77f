/**
 * Our own small codecs around the generated code: the append payload, the Connect envelope, the two stream
 * messages, the position of a frame. Only the hex of an append needs Node (`Buffer`).
 */
export { appendPayload, encodeHex } from "./append-payload.js";
export {
  compressedFlag,
  type EndStreamError,
  type Envelope,
  EnvelopeReader,
  encodeEnvelope,
  endStreamEnvelope,
  endStreamFlag,
} from "./envelope.js";
export { MalformedMessage } from "./malformed-message.js";
export { decodeClientMessage, decodeServerMessage, encodeClientMessage, encodeServerMessage } from "./messages.js";
export { positionOf, withPosition } from "./position.js";
export { countUnknownFields } from "./unknown-fields.js";
