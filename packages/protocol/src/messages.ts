import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type AgentClientMessage,
  AgentClientMessageSchema,
  type AgentServerMessage,
  AgentServerMessageSchema,
} from "./agent.js";
import { MalformedMessage } from "./malformed-message.js";

/**
 * Reads one client message.
 *
 * Fields and cases that the schema lacks are kept and written again by {@link encodeClientMessage} (I10); a message
 * of which no case is known decodes to `message.case === undefined`. `bytes` fields of the result share memory with
 * `bytes`, so the caller must not overwrite it.
 *
 * @throws {MalformedMessage} with field `message` when the bytes are no protobuf, nest deeper than 100 levels, or
 * hold text that is not UTF-8.
 */
export function decodeClientMessage(bytes: Uint8Array): AgentClientMessage {
  try {
    return fromBinary(AgentClientMessageSchema, bytes);
  } catch (cause) {
    throw undecodable("AgentClientMessage", cause);
  }
}

/** The bytes of a client message, fields unknown to the schema included. */
export function encodeClientMessage(message: AgentClientMessage): Uint8Array {
  return toBinary(AgentClientMessageSchema, message);
}

/**
 * Reads one server message; the same promises as {@link decodeClientMessage}.
 *
 * @throws {MalformedMessage} with field `message`.
 */
export function decodeServerMessage(bytes: Uint8Array): AgentServerMessage {
  try {
    return fromBinary(AgentServerMessageSchema, bytes);
  } catch (cause) {
    throw undecodable("AgentServerMessage", cause);
  }
}

/** The bytes of a server message, fields unknown to the schema included: what the log keeps and every subscriber gets. */
export function encodeServerMessage(message: AgentServerMessage): Uint8Array {
  return toBinary(AgentServerMessageSchema, message);
}

function undecodable(name: string, cause: unknown): MalformedMessage {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MalformedMessage("message", `not a valid ${name}: ${reason}`, { cause });
}
