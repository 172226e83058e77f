import { stat } from "node:fs/promises";
import type { BlobId } from "../../run/ids.js";
import { StoreOpenError } from "../errors.js";
import type { Store } from "../port.js";
import { type Database, loadSqlite, type OpenDatabase } from "./database.js";
import { type InstanceLock, lockInstance } from "./instance-lock.js";
import { SqliteLogStore } from "./log.js";
import { migrate } from "./migrate.js";
import { createPrivateFile } from "./private-file.js";
import { sqliteBlobStore, sqliteConversationStore, sqliteKeyStore, sqliteMetaStore } from "./side-stores.js";
import { inlineWriter } from "./writer.js";

/** How an SQLite store is opened. */
export interface SqliteStoreOptions {
  /** Absolute path; the folder and the file are created for the owner only when absent. */
  readonly file: string;
  /** Upper bound of the database file in bytes; writes beyond it fail with `log/write-failed`. Default: none. */
  readonly maxSizeBytes?: number;
  /** Milliseconds since the epoch; only for rows whose time no record gives. */
  readonly now?: () => number;
  /** Told of each blob that was removed because its bytes did not match its id. */
  readonly onDamagedBlob?: (id: BlobId) => void;
}

const pageSizeBytes = 4096;

/**
 * Opens the embedded store: one file in WAL mode, every acknowledged write synced.
 * Rejects with StoreOpenError: `in-use` (another process has it), `newer-schema`, `not-a-store`, `unavailable`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, now = Date.now, onDamagedBlob = () => {} } = options;
  const { lock, database } = openFiles(options, await loadSqlite());
  const writer = inlineWriter(database);
  let closing: Promise<void> | undefined;
  return {
    log: new SqliteLogStore(database, writer, now),
    blobs: sqliteBlobStore(database, writer, onDamagedBlob),
    conversations: sqliteConversationStore(database, writer, now),
    keys: sqliteKeyStore(database, writer),
    meta: sqliteMetaStore(database, writer),
    sizeBytes: async () => (await fileSize(file)) + (await fileSize(`${file}-wal`)),
    close: () =>
      (closing ??= writer.close().then(() => {
        try {
          database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        } catch {
          // A full disk; the next start reads the WAL instead.
        }
        database.close();
        lock.release();
      })),
  };
}

function openFiles(
  { file, maxSizeBytes }: SqliteStoreOptions,
  openDatabase: OpenDatabase,
): { lock: InstanceLock; database: Database } {
  let lock: InstanceLock | undefined;
  let database: Database | undefined;
  try {
    createPrivateFile(file);
    lock = lockInstance(file, openDatabase);
    database = openDatabase(file);
    configure(database, maxSizeBytes);
    migrate(database, file);
    return { lock, database };
  } catch (error) {
    database?.close();
    lock?.release();
    if (error instanceof StoreOpenError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    if (/not a database/i.test(words)) {
      throw new StoreOpenError("not-a-store", `${file} is not a Keyturn database`, { cause: error });
    }
    throw new StoreOpenError("unavailable", `the store ${file} could not be opened: ${words}`, { cause: error });
  }
}

function configure(database: Database, maxSizeBytes: number | undefined): void {
  // First: it counts only for a file without a page, and WAL mode writes one. Lets pruned space go back to the disk.
  database.exec(`PRAGMA page_size = ${pageSizeBytes}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA busy_timeout = 5000`);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  database.exec(`PRAGMA cache_size = -16000; PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  if (maxSizeBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.ceil(maxSizeBytes / pageSizeBytes)}`);
}

async function fileSize(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}
