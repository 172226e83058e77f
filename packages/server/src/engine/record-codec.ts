import { FaultError, fault } from "../run/faults.js";
import type { Json } from "../run/ids.js";
import { type RunRecord, recordVersion } from "../run/records.js";
import type { LogRecord } from "./ports.js";

/** The one field of a kind that is bytes, stored beside the JSON body. */
const payloadFields: { readonly [kind: string]: string | undefined } = {
  "append-stored": "bytes",
  "call-closed": "toolCall",
  "checkpoint-projected": "frame",
};

/** Splits a record into what the log stores: kind, JSON body with the record version, and bytes. */
export function encodeRecord(record: RunRecord): Pick<LogRecord, "kind" | "body" | "payload"> {
  const { kind, ...rest } = record as { kind: string } & Record<string, unknown>;
  const field = payloadFields[kind];
  const payload = field === undefined ? null : (rest[field] as Uint8Array);
  if (field !== undefined) delete rest[field];
  return { kind, body: { ...(rest as Record<string, Json>), v: recordVersion }, payload };
}

/**
 * Puts a stored record together again. Throws FaultError run/unreadable for a record of a newer version:
 * an old server does not guess what a newer one meant.
 */
export function decodeRecord(stored: LogRecord): RunRecord {
  const { v, ...rest } = stored.body as Record<string, Json>;
  if (typeof v !== "number" || v > recordVersion) {
    const detail = `Record ${stored.position} has version ${JSON.stringify(v)}; this server reads up to ${recordVersion}. Start a newer Keyturn on this data folder.`;
    throw new FaultError(fault("run/unreadable", detail));
  }
  const field = payloadFields[stored.kind];
  const bytes = field === undefined ? {} : { [field]: stored.payload ?? new Uint8Array() };
  return { kind: stored.kind, ...rest, ...bytes } as unknown as RunRecord;
}
