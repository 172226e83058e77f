// @ts-check
// The few bytes of agent.v1 that the bench writes and counts. By hand, so that the client costs next to nothing;
// field numbers as in packages/protocol/proto.
import { Buffer } from "node:buffer";

/** @param {number} value */
function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}

/** A length-delimited field. @param {number} field @param {...(string | Uint8Array)} parts */
function bytes(field, ...parts) {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(field * 8 + 2), varint(body.length), body]);
}

/** @param {number} field @param {number} value */
function number(field, value) {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

/** AgentClientMessage.run_request with a user message. @param {string} conversationId @param {string} model */
export function runRequest(conversationId, model) {
  const userMessage = bytes(1, bytes(1, "Say something."), bytes(2, `message-${conversationId}`));
  const action = bytes(2, bytes(1, userMessage));
  return bytes(1, action, bytes(5, conversationId), bytes(9, bytes(1, model)));
}

/** An empty, successful request_context_result. @param {number} id @param {string} execId */
export function contextResult(id, execId) {
  return bytes(2, number(1, id), bytes(10, bytes(1, bytes(1))), bytes(15, execId));
}

/** @param {number} id */
export function streamClose(id) {
  return bytes(5, bytes(1, number(1, id)));
}

/** A blob was kept. @param {number} id */
export function setBlobResult(id) {
  return bytes(3, number(1, id), bytes(3));
}

export const heartbeat = bytes(7);

/** The body of a BidiAppend. @param {string} requestId @param {number} seqno @param {Uint8Array} message */
export function appendRequest(requestId, seqno, message) {
  return Buffer.concat([
    bytes(1, Buffer.from(message).toString("hex")),
    bytes(2, bytes(1, requestId)),
    number(3, seqno),
  ]);
}

/** @param {string} requestId */
export function runSseRequest(requestId) {
  return bytes(1, requestId);
}

/**
 * The length of the text when the frame is a text delta, else -1. All deltas look alike: field 1 in field 1 in field 1.
 * @param {Uint8Array} frame
 */
export function textLength(frame) {
  let at = 0;
  let length = frame.length;
  for (let depth = 0; depth < 3; depth += 1) {
    if (frame[at] !== 0x0a) return -1;
    at += 1;
    length = 0;
    for (let shift = 1; ; shift *= 128, at += 1) {
      const byte = frame[at] ?? 0;
      length += (byte & 127) * shift;
      if (byte < 128) break;
    }
    at += 1;
  }
  return length;
}

/** Cuts a byte stream into Connect envelopes without copying whole ones. */
export class EnvelopeScanner {
  /** @type {Buffer} */
  #rest = Buffer.alloc(0);

  /** @param {Buffer} chunk @param {(flags: number, body: Buffer) => void} take */
  push(chunk, take) {
    const all = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at + 5 <= all.length) {
      const end = at + 5 + all.readUInt32BE(at + 1);
      if (end > all.length) break;
      take(all[at] ?? 0, all.subarray(at + 5, end));
      at = end;
    }
    this.#rest = all.subarray(at);
  }
}
