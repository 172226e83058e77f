import type { Readable } from "node:stream";
import { decodeServerMessage, EnvelopeReader, endStreamFlag, MalformedMessage } from "@keyturn/protocol/codec";
import { readServerError } from "./refusal.js";
import { describeFailure, type StreamEnd, type StreamListener } from "./transport.js";

const maxMessageBytes = 256 * 1024 * 1024;

/** What the bytes of a response are cut into. */
export interface BodyListener {
  body(bytes: Uint8Array): void;
  end(end: StreamEnd): void;
}

/**
 * Cuts the body of a response into server messages. The listener hears one end, whatever happens; the returned function lets
 * it hear nothing any more.
 */
export function readFrames(readable: Readable, listener: StreamListener): () => void {
  return readBodies(readable, {
    body: (bytes) => listener.message(decodeServerMessage(bytes), bytes),
    end: (end) => listener.end(end),
  });
}

/** The same for messages of any type, still encoded; one that the listener cannot read ends the stream. */
export function readBodies(readable: Readable, listener: BodyListener): () => void {
  const reader = new EnvelopeReader(maxMessageBytes);
  let over = false;
  const end = (how: StreamEnd): void => {
    if (over) return;
    over = true;
    listener.end(how);
  };
  readable.on("data", (chunk: Uint8Array) => {
    try {
      for (const { flags, body } of reader.push(chunk)) {
        if (over) return;
        if (flags === endStreamFlag) end(parseEnd(body));
        else if (flags === 0) listener.body(body);
        else throw new MalformedMessage("envelope", `a frame has flags ${flags}`);
      }
    } catch (cause) {
      // A frame that cannot be read would be the same again: nothing is gained by coming back.
      const message = `The server sent what cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
      end({ kind: "error", error: { code: "data_loss", message, isRetryable: false } });
      readable.destroy();
    }
  });
  readable.once("end", () => end({ kind: "broken", why: "the stream ended without a last word" }));
  readable.once("error", (cause) => end({ kind: "broken", why: describeFailure(cause) }));
  readable.once("close", () => end({ kind: "broken", why: "the connection was closed" }));
  return () => {
    over = true;
  };
}

/** Reads the JSON of the frame that ends a stream. */
function parseEnd(body: Uint8Array): StreamEnd {
  const value: unknown = JSON.parse(new TextDecoder().decode(body));
  const hasError = typeof value === "object" && value !== null && "error" in value;
  if (!hasError) return { kind: "completed" };
  const error = readServerError(value) ?? { code: "unknown", message: "an error without words", isRetryable: false };
  return { kind: "error", error };
}
