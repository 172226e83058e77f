import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { FaultError } from "../../run/faults.js";
import type { BlobId } from "../../run/ids.js";
import { StoreOpenError } from "../errors.js";
import type { LogStore, RunRow } from "../port.js";
import { type Database, loadSqlite } from "./database.js";
import { isLockHeld } from "./instance-lock.js";
import { SqliteLogStore } from "./log.js";
import { newestSchema, schemaVersion } from "./migrate.js";
import type { LogWriter } from "./writer.js";

/** How much is in a store. */
export interface StoreTotals {
  readonly runs: number;
  readonly unfinished: number;
  readonly records: number;
  readonly blobs: number;
  readonly conversations: number;
  /** Size of the files. */
  readonly sizeBytes: number;
}

/** A store seen from outside: nothing is written, no lock is taken, and a server may be using it meanwhile. */
export interface StoreReader {
  readonly file: string;
  readonly log: Pick<LogStore, "find" | "newest" | "read" | "unfinished" | "listRuns">;
  /** Whether a server is using the store. */
  isInUse(): boolean;
  totals(): Promise<StoreTotals>;
  /** Reads every record of the run; what is wrong with the first one that is damaged or missing, else undefined. */
  findDamage(run: Pick<RunRow, "key">): Promise<string | undefined>;
  /** The blobs whose bytes are not what their name says. */
  damagedBlobs(): readonly BlobId[];
  close(): void;
}

/**
 * Opens a store's file for reading.
 * Rejects with StoreOpenError: `missing`, `unavailable` (an older schema), `newer-schema`, `not-a-store`.
 */
export async function openSqliteReader(file: string): Promise<StoreReader> {
  if (!existsSync(file))
    throw new StoreOpenError("missing", `there is no store at ${file}; the first start of a server makes it`);
  const openDatabase = await loadSqlite();
  const database = openChecked(file, () => openDatabase(file, { readOnly: true }));
  const log = new SqliteLogStore(database, nothingToWrite, Date.now);
  return {
    file,
    log,
    isInUse: () => isLockHeld(file, openDatabase),
    totals: async () => {
      const sizes = await Promise.all([file, `${file}-wal`].map(sizeOf));
      const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
      const counts = Object.entries(tables).map(([name, from]) => [name, count(database, from)] as const);
      return { ...(Object.fromEntries(counts) as Record<keyof typeof tables, number>), sizeBytes };
    },
    findDamage: ({ key }) => inSnapshot(database, () => findDamage(log, key)),
    damagedBlobs: () => damagedBlobs(database),
    close: () => database.close(),
  };
}

const tables = {
  runs: "runs",
  unfinished: "runs WHERE ended = 0",
  records: "records",
  blobs: "blobs",
  conversations: "conversations",
} as const;

function count(database: Database, from: string): number {
  return Number(database.get(`SELECT count(*) AS count FROM ${from}`)?.count);
}

function openChecked(file: string, open: () => Database): Database {
  let database: Database | undefined;
  try {
    database = open();
    database.exec("PRAGMA busy_timeout = 5000");
    const version = schemaVersion(database, file);
    if (version === newestSchema) return database;
    throw new StoreOpenError(
      "unavailable",
      `${file} is of an older Keyturn; start the server once, it brings the file up to date`,
    );
  } catch (error) {
    database?.close();
    if (error instanceof StoreOpenError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    const code = /not a database/i.test(words) ? "not-a-store" : "unavailable";
    throw new StoreOpenError(code, `the store ${file} cannot be read: ${words}`, { cause: error });
  }
}

async function findDamage(log: SqliteLogStore, key: RunRow["key"]): Promise<string | undefined> {
  try {
    for (let after = 0; ; ) {
      const { length } = await log.read(key, after, batch);
      if (length < batch) return undefined;
      after += length;
    }
  } catch (error) {
    if (FaultError.is(error)) return error.fault.detail;
    throw error;
  }
}

const batch = 512;

/** What is deleted or appended meanwhile does not look like damage. */
async function inSnapshot<Result>(database: Database, read: () => Promise<Result>): Promise<Result> {
  database.exec("BEGIN");
  try {
    return await read();
  } finally {
    database.exec("COMMIT");
  }
}

function damagedBlobs(database: Database): readonly BlobId[] {
  const damaged: BlobId[] = [];
  for (let after = 0; ; ) {
    // One at a time: a blob may be large, and there may be many of them.
    const row = database.get("SELECT rowid AS row, id, bytes FROM blobs WHERE rowid > ? ORDER BY rowid LIMIT 1", after);
    if (!row) return damaged;
    after = Number(row.row);
    const id = Buffer.from(row.id as Uint8Array).toString("hex");
    if (
      createHash("sha256")
        .update(row.bytes as Uint8Array)
        .digest("hex") !== id
    )
      damaged.push(id);
  }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

const nothingToWrite: LogWriter = {
  write: () => Promise.reject(new Error("the store is open for reading only")),
  close: () => Promise.resolve(),
};
