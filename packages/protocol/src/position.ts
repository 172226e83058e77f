import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { AgentServerMessage } from "./agent.js";

/**
 * The field of an `AgentServerMessage` in which a frame says its place in the log of its run. It is none of the
 * published schema, which ends far below; whoever does not know it skips it, as protobuf demands.
 */
const positionField = 50_000;

/**
 * A frame with its position behind it. Only for subscribers that named a position themselves (`keyturn-position`): all
 * others get the frame as it is in the log. The bytes before the position are those of the frame.
 */
export function withPosition(frame: Uint8Array, position: number): Uint8Array {
  const suffix = new BinaryWriter().tag(positionField, WireType.Varint).uint64(position).finish();
  const bytes = new Uint8Array(frame.length + suffix.length);
  bytes.set(frame);
  bytes.set(suffix, frame.length);
  return bytes;
}

/** The position of a message, undefined when it has none: heartbeats, and servers that know no positions. */
export function positionOf(message: AgentServerMessage): number | undefined {
  const field = message.$unknown?.findLast(({ no, wireType }) => no === positionField && wireType === WireType.Varint);
  if (!field) return undefined;
  const position = Number(new BinaryReader(field.data).uint64());
  return Number.isSafeInteger(position) ? position : undefined;
}
