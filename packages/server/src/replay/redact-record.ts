import { Buffer, isUtf8 } from "node:buffer";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { AgentClientMessageSchema, AgentServerMessageSchema, ToolCallSchema } from "@keyturn/protocol/agent";
import type { LogRecord } from "../engine/ports.js";
import type { Json } from "../run/ids.js";

/**
 * Replaces every secret by a text of the same length: then what the server makes of a redacted input is the redacted
 * form of what it made of the input, limits and cuts included.
 */
export type SameLengthRedaction = (text: string) => string;

type Schema = typeof AgentClientMessageSchema | typeof AgentServerMessageSchema | typeof ToolCallSchema;

/** What the payloads of a kind are messages of. */
const payloadSchemas: { readonly [kind: string]: Schema | undefined } = {
  "append-stored": AgentClientMessageSchema,
  "call-closed": ToolCallSchema,
  "checkpoint-projected": AgentServerMessageSchema,
};

/**
 * Redacts records, field by field of their messages; one without a secret is returned as it is, byte for byte.
 * What the model wrote is redacted as a whole and cut again where it was cut: a secret in two deltas is one.
 */
export function redactRecords(records: readonly LogRecord[], redact: SameLengthRedaction): readonly LogRecord[] {
  const written = redactDeltas(records, redact);
  return records.map((record, index) => {
    const text = written.get(index);
    return text === undefined ? redactRecord(record, redact) : withDelta(record, text);
  });
}

function redactRecord(record: LogRecord, redact: SameLengthRedaction): LogRecord {
  const body = redactValue(record.body, redact) as Json;
  const payload = redactMessage(payloadSchemas[record.kind], record.payload, redact);
  const frame = redactMessage(AgentServerMessageSchema, record.frame, redact);
  const same = body === record.body && payload === record.payload && frame === record.frame;
  return same ? record : { ...record, body, payload, frame };
}

/** The redacted texts of `text-added` records, by index, of those blocks that hold a secret. */
function redactDeltas(records: readonly LogRecord[], redact: SameLengthRedaction): Map<number, string> {
  const found = new Map<number, string>();
  let block: { index: number; text: string }[] = [];
  const close = () => {
    const whole = block.map(({ text }) => text).join("");
    const clean = redact(whole);
    let at = 0;
    for (const { index, text } of block) {
      const piece = clean.slice(at, (at += text.length));
      if (clean !== whole && piece !== text) found.set(index, piece);
    }
    block = [];
  };
  records.forEach(({ kind, body }, index) => {
    if (kind === "text-added") block.push({ index, text: (body as { text: string }).text });
    else if (kind === "block-closed" || kind === "pass-ended") close();
  });
  close();
  return found;
}

function withDelta(record: LogRecord, text: string): LogRecord {
  const message = record.frame ? fromBinary(AgentServerMessageSchema, record.frame) : undefined;
  const update = message?.message.case === "interactionUpdate" ? message.message.value.message : undefined;
  if (update?.case === "textDelta" || update?.case === "thinkingDelta") update.value.text = text;
  const frame = message ? toBinary(AgentServerMessageSchema, message) : null;
  return { ...record, body: { ...(record.body as Record<string, Json>), text }, frame };
}

function redactMessage(schema: Schema | undefined, bytes: Uint8Array | null, redact: SameLengthRedaction) {
  if (!bytes || bytes.byteLength === 0) return bytes;
  if (!schema) return redactBytes(bytes, redact);
  try {
    const message = fromBinary(schema, bytes);
    const clean = redactValue(message, redact);
    return clean === message ? bytes : toBinary(schema, clean as typeof message);
  } catch {
    // Not what it should be: its text is still to go.
    return redactBytes(bytes, redact);
  }
}

/** A value with every text and every bytes in it redacted; the same value when none of them changed. */
function redactValue(value: unknown, redact: SameLengthRedaction): unknown {
  if (typeof value === "string") return redact(value);
  if (value instanceof Uint8Array) return redactBytes(value, redact);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const clean = value.map((one) => redactValue(one, redact));
    return clean.some((one, index) => one !== value[index]) ? clean : value;
  }
  const entries = Object.entries(value).map(
    ([name, one]) => [name, isStructure(name, value) ? one : redactValue(one, redact)] as const,
  );
  const changed = entries.filter(([name, one]) => one !== (value as Record<string, unknown>)[name]);
  // Keeps the prototype of a message, which holds its default values.
  return changed.length === 0
    ? value
    : Object.assign(Object.create(Object.getPrototypeOf(value) as object | null), value, Object.fromEntries(changed));
}

/** Names of message types and of cases are the schema's words, whatever secret is spelled like them. */
function isStructure(name: string, parent: object): boolean {
  return name === "$typeName" || (name === "case" && "value" in parent);
}

function redactBytes(bytes: Uint8Array, redact: SameLengthRedaction): Uint8Array {
  const encoding = isUtf8(bytes) ? "utf8" : "latin1";
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding);
  const clean = redact(text);
  return clean === text ? bytes : new Uint8Array(Buffer.from(clean, encoding));
}
