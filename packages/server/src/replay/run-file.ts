import { Buffer } from "node:buffer";
import type { LogRecord } from "../engine/ports.js";
import type { Json, RunKey } from "../run/ids.js";

/** The version of the file's form; a file with a newer one is not read. */
export const runFileVersion = 1;

/** The first line of a run file. */
export interface RunFileHeader {
  readonly format: "keyturn-run";
  readonly formatVersion: number;
  /** Version of the server that wrote the file. */
  readonly server: string;
  /** Newest record version that server knows. */
  readonly recordVersion: number;
  readonly requestId: string;
  readonly generation: number;
  readonly conversationId: string | null;
  /** Milliseconds since the epoch, like every `at`. */
  readonly createdAt: number;
  readonly ended: boolean;
  /** How many lines follow. */
  readonly records: number;
  /** Records in which a secret was replaced by as many asterisks. */
  readonly redactions: number;
}

/** One run, whole: what `runs export` writes and `runs replay` reads. docs/operations.md describes the form. */
export interface RunFile {
  readonly header: RunFileHeader;
  /** In order, positions from 1 without a gap. */
  readonly records: readonly LogRecord[];
}

/** The file is no run file, or not a whole one; the message says in one sentence what is wrong with it. */
export class RunFileError extends Error {
  override readonly name = "RunFileError";
}

/** The key of the run in a file. */
export function keyOf({ requestId, generation }: Pick<RunFileHeader, "requestId" | "generation">): RunKey {
  return { requestId, generation };
}

/** The file's text: JSON lines, the header first. */
export function writeRunFile({ header, records }: RunFile): string {
  return [header, ...records.map(toLine)].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Reads a run file's text. Throws RunFileError. */
export function readRunFile(text: string): RunFile {
  const [first, ...lines] = text.split("\n").filter((line) => line.trim() !== "");
  const header = readHeader(parseLine(first ?? "", 1));
  if (lines.length !== header.records) {
    throw new RunFileError(
      `the file should hold ${header.records} records and holds ${lines.length}: it was cut or edited`,
    );
  }
  const records = lines.map((line, index) => fromLine(parseLine(line, index + 2), index + 1));
  return { header, records };
}

interface RecordLine {
  readonly position: number;
  readonly fence: number;
  readonly at: number;
  readonly kind: string;
  readonly body: Json;
  /** Base64, as `frame`; absent when there is none. */
  readonly payload?: string;
  readonly frame?: string;
}

function toLine({ position, fence, at, kind, body, payload, frame }: LogRecord): RecordLine {
  return {
    position,
    fence,
    at,
    kind,
    body,
    ...(payload ? { payload: Buffer.from(payload).toString("base64") } : {}),
    ...(frame ? { frame: Buffer.from(frame).toString("base64") } : {}),
  };
}

function fromLine(value: Record<string, unknown>, expected: number): LogRecord {
  const { position, fence, at, kind, body, payload, frame } = value;
  const sound =
    position === expected &&
    typeof fence === "number" &&
    typeof at === "number" &&
    typeof kind === "string" &&
    typeof body === "object" &&
    isText(payload) &&
    isText(frame);
  if (!sound) throw new RunFileError(`line ${expected + 1} is not the record at position ${expected}`);
  return { position: expected, fence, at, kind, body: body as Json, payload: bytesOf(payload), frame: bytesOf(frame) };
}

function readHeader(value: Record<string, unknown>): RunFileHeader {
  if (value.format !== "keyturn-run") throw new RunFileError("the file is no export of a run (keyturn runs export)");
  if (typeof value.formatVersion !== "number" || value.formatVersion > runFileVersion) {
    throw new RunFileError(
      `the file has form ${String(value.formatVersion)}; this Keyturn reads up to ${runFileVersion}`,
    );
  }
  const { requestId, generation, createdAt, records } = value;
  if (
    typeof requestId !== "string" ||
    typeof generation !== "number" ||
    typeof createdAt !== "number" ||
    typeof records !== "number"
  ) {
    throw new RunFileError("the first line lacks requestId, generation, createdAt or records");
  }
  return value as unknown as RunFileHeader;
}

function parseLine(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new RunFileError(`line ${number} is no JSON object`);
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function bytesOf(base64: string | undefined): Uint8Array | null {
  return base64 === undefined ? null : new Uint8Array(Buffer.from(base64, "base64"));
}
