import { crc32 } from "node:zlib";
import { FaultError, fault } from "../../run/faults.js";
import { type Json, type Position, type RunKey, runName } from "../../run/ids.js";
import type { StoredFrame, StoredRecord } from "../port.js";
import type { SqlRow } from "./database.js";

/**
 * A record as its row. The payload has a checksum of its own, which the row's covers,
 * so that a reader of frames can verify a row without reading its payload.
 */
export interface RecordRow {
  readonly position: Position;
  readonly fence: number;
  readonly at: number;
  readonly kind: string;
  readonly body: string;
  readonly frame: Uint8Array | null;
  readonly payload: Uint8Array | null;
  readonly payloadChecksum: number;
  readonly checksum: number;
}

/** Marks an absent payload apart from an empty one; no CRC is negative. */
const noPayload = -1;

/** The row of a record of the run. Throws TypeError when the body is no JSON. */
export function encodeRecord(key: RunKey, record: StoredRecord): RecordRow {
  const body = JSON.stringify(record.body) as string | undefined;
  if (body === undefined) throw new TypeError(`the body of record ${record.position} is no JSON value`);
  const { position, fence, at, kind, frame, payload } = record;
  const row = { position, fence, at, kind, body, frame, payload, payloadChecksum: payloadChecksum(payload) };
  return { ...row, checksum: rowChecksum(key, row) };
}

/** The record of a row with all columns. Throws FaultError `run/unreadable` when it is damaged. */
export function decodeRecord(key: RunKey, row: SqlRow): StoredRecord {
  const found = row as unknown as RecordRow;
  verify(key, found, payloadChecksum(found.payload) === found.payloadChecksum);
  const { position, fence, at, kind, payload, frame } = found;
  return { position, fence, at, kind, body: JSON.parse(found.body) as Json, payload, frame };
}

/** The frame of a row without its payload column. Throws FaultError `run/unreadable` when it is damaged. */
export function decodeFrame(key: RunKey, row: SqlRow): StoredFrame {
  const found = row as unknown as RecordRow & { frame: Uint8Array };
  verify(key, found, true);
  return { position: found.position, kind: found.kind, body: JSON.parse(found.body) as Json, frame: found.frame };
}

/** The fault of a record that is damaged or not there. */
export function unreadable(key: RunKey, position: Position, what: string, cause?: unknown): FaultError {
  return new FaultError(fault("run/unreadable", `record ${position} of run ${runName(key)} ${what}`), { cause });
}

function verify(key: RunKey, row: RecordRow, payloadIsSound: boolean): void {
  if (!payloadIsSound || rowChecksum(key, row) !== row.checksum) throw unreadable(key, row.position, "is damaged");
}

function payloadChecksum(payload: Uint8Array | null): number {
  return payload === null ? noPayload : crc32(payload);
}

function rowChecksum(key: RunKey, row: Omit<RecordRow, "checksum" | "payload">): number {
  const { position, fence, at, kind, payloadChecksum: payload, frame } = row;
  const head = `${key.requestId}\0${key.generation}\0${position}\0${fence}\0${at}\0${kind}\0${payload}\0${frame?.length ?? "-"}\0`;
  const checksum = crc32(head + row.body);
  // zlib forgets the checksum so far when it is given an empty array without memory behind it.
  return frame === null || frame.length === 0 ? checksum : crc32(frame, checksum);
}
