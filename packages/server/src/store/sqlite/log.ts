import { FaultError, fault } from "../../run/faults.js";
import { type Position, type RunKey, runName } from "../../run/ids.js";
import type { LogAppend, LogStore, RunFilter, RunRow, StoredFrame, StoredRecord } from "../port.js";
import type { Database, SqlRow } from "./database.js";
import { decodeFrame, decodeRecord, encodeRecord, unreadable } from "./record-codec.js";
import { blobKey, decodeRun } from "./rows.js";
import { findRun } from "./write-commands.js";
import type { LogWriter } from "./writer.js";

const frameColumns = "position, fence, at, kind, checksum, payload_checksum AS payloadChecksum, body, frame";

/** Runs a commit deletes at once: pruning must not hold appends up. */
const pruneBatch = 8;

/** The log on SQLite. Reads go to the connection directly, writes through the writer. */
export class SqliteLogStore implements LogStore {
  readonly #database: Database;
  readonly #writer: LogWriter;
  readonly #now: () => number;

  constructor(database: Database, writer: LogWriter, now: () => number) {
    this.#database = database;
    this.#writer = writer;
    this.#now = now;
  }

  open(key: RunKey, at: number): Promise<RunRow> {
    return this.#writer.write("open", { key, at });
  }

  async find(key: RunKey): Promise<RunRow | undefined> {
    const row = findRun(this.#database, key);
    return row === undefined ? undefined : decodeRun(row);
  }

  async newest(requestId: string): Promise<RunRow | undefined> {
    const sql = "SELECT * FROM runs WHERE request_id = ? ORDER BY generation DESC LIMIT 1";
    const row = this.#database.get(sql, requestId);
    return row === undefined ? undefined : decodeRun(row);
  }

  claim(key: RunKey): Promise<number> {
    return this.#writer.write("claim", { key });
  }

  async append(entry: LogAppend): Promise<void> {
    const { records, ...facts } = entry;
    checkAppend(entry);
    const rows = records.map((record) => encodeRecord(entry.key, record));
    const at = records.at(-1)?.at ?? this.#now();
    await this.#writer.write("append", { ...facts, rows, at }, sizeOf(entry));
  }

  async read(key: RunKey, after: Position, limit: number): Promise<StoredRecord[]> {
    const run = findRun(this.#database, key);
    if (run === undefined) return [];
    const sql = `SELECT ${frameColumns}, payload FROM records WHERE run = ? AND position > ? ORDER BY position LIMIT ?`;
    const rows = readRows(this.#database, key, after, sql, run.id as number, after, limit);
    const expected = Math.min(limit, (run.last_position as number) - after);
    for (let index = 0; index < expected; index++) {
      const position = after + index + 1;
      if (rows[index]?.position !== position) throw unreadable(key, position, "is missing");
    }
    return rows.map((row) => decodeRecord(key, row));
  }

  async readFrames(key: RunKey, after: Position, limit: number): Promise<StoredFrame[]> {
    const run = findRun(this.#database, key);
    if (run === undefined) return [];
    const sql = `SELECT ${frameColumns} FROM records WHERE run = ? AND position > ? AND frame IS NOT NULL ORDER BY position LIMIT ?`;
    return readRows(this.#database, key, after, sql, run.id as number, after, limit).map((row) =>
      decodeFrame(key, row),
    );
  }

  async unfinished(): Promise<RunRow[]> {
    return this.#database.all("SELECT * FROM runs WHERE ended = 0 ORDER BY id").map(decodeRun);
  }

  async listRuns({ limit, conversationId, ended }: RunFilter): Promise<RunRow[]> {
    const conditions = [
      ...(conversationId === undefined ? [] : ["conversation_id = ?"]),
      ...(ended === undefined ? [] : [`ended = ${ended ? 1 : 0}`]),
    ];
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const values = conversationId === undefined ? [limit] : [conversationId, limit];
    return this.#database.all(`SELECT * FROM runs ${where} ORDER BY id DESC LIMIT ?`, ...values).map(decodeRun);
  }

  async prune(endedBefore: number): Promise<number> {
    let pruned = 0;
    for (;;) {
      const count = await this.#writer.write("prune", { endedBefore, limit: pruneBatch });
      pruned += count;
      if (count < pruneBatch) return pruned;
    }
  }
}

/** What can be refused without the database is refused before the append joins a group. */
function checkAppend({ key, fence, records, blobs, newestRoot }: LogAppend): void {
  const first = records[0]?.position ?? 1;
  records.forEach((record, index) => {
    if (record.fence === fence && record.position === first + index) return;
    const words = `run ${runName(key)}: record ${record.position} with fence ${record.fence} does not belong at place ${index} of the append`;
    throw new FaultError(fault("log/stale-fence", words));
  });
  for (const blob of blobs ?? []) blobKey(blob.id);
  if (newestRoot !== undefined) blobKey(newestRoot.root);
}

function sizeOf({ records, blobs }: LogAppend): number {
  const ofRecords = records.reduce((sum, { payload, frame }) => sum + (payload?.length ?? 0) + (frame?.length ?? 0), 0);
  return (blobs ?? []).reduce((sum, blob) => sum + blob.bytes.length, ofRecords);
}

function readRows(database: Database, key: RunKey, after: Position, sql: string, ...values: number[]): SqlRow[] {
  try {
    return database.all(sql, ...values);
  } catch (cause) {
    throw unreadable(key, after + 1, "or one after it cannot be read from the disk", cause);
  }
}
