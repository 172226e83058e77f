import { existsSync } from "node:fs";
import { StoreOpenError } from "../errors.js";
import type { Database, OpenDatabase } from "./database.js";
import { createPrivateFile } from "./private-file.js";

/** Proof that this process alone uses the store. */
export interface InstanceLock {
  /** Lets the next process in. */
  release(): void;
}

/** SQLite waits this long for a server that is just going away. */
const patienceMs = 1_000;

/**
 * Takes the one-process lock of a store: an exclusive transaction, held open, on an empty database beside it.
 * The operating system drops it with the process, however that dies, so there is no stale lock and no process id to misread (I-34).
 * Throws StoreOpenError `in-use` when another process has it.
 */
export function lockInstance(file: string, openDatabase: OpenDatabase): InstanceLock {
  const lockFile = `${file}.lock`;
  createPrivateFile(lockFile);
  let database: Database | undefined;
  try {
    database = openDatabase(lockFile);
    database.exec(`PRAGMA busy_timeout = ${patienceMs}; BEGIN EXCLUSIVE`);
  } catch (cause) {
    database?.close();
    if (!/locked|busy/i.test(String(cause))) throw cause;
    throw new StoreOpenError(
      "in-use",
      `another Keyturn server is using ${file}; stop it, or start this one with another --data-dir`,
      { cause },
    );
  }
  const held = database;
  return { release: () => held.close() };
}

/** Whether a process has the lock of a store; takes nothing and waits for nobody. */
export function isLockHeld(file: string, openDatabase: OpenDatabase): boolean {
  const lockFile = `${file}.lock`;
  if (!existsSync(lockFile)) return false;
  const database = openDatabase(lockFile);
  try {
    database.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE; ROLLBACK");
    return false;
  } catch (error) {
    if (/locked|busy/i.test(String(error))) return true;
    throw error;
  } finally {
    database.close();
  }
}
