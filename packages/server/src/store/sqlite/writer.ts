import { FaultError, fault } from "../../run/faults.js";
import type { Database } from "./database.js";
import { commandHandlers, type WriteCommands } from "./write-commands.js";

/**
 * The one writer of a store. Commands are data, so that the writer can move to a thread without a change to its callers.
 */
export interface LogWriter {
  /**
   * Carries the command out; resolves once it is on disk.
   * Rejects with the command's own FaultError, or with `log/write-failed` (cause kept) when the disk refused; then nothing of it is stored.
   */
  write<Name extends keyof WriteCommands>(
    name: Name,
    given: WriteCommands[Name]["given"],
    sizeBytes?: number,
  ): Promise<WriteCommands[Name]["gives"]>;
  /** Waits for the commands under way; later ones are refused. */
  close(): Promise<void>;
}

interface Job {
  readonly sizeBytes: number;
  readonly perform: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A batch holds the other runs up, so it is capped in both respects (I-39). */
const batchLimits = { commands: 200, sizeBytes: 4 * 1024 * 1024 };

/** The writer in this thread: all commands of a tick share one commit. */
export function inlineWriter(database: Database): LogWriter {
  const handlers = commandHandlers(database);
  let queue: Job[] = [];
  let scheduled = false;
  let closed = false;
  let drained: (() => void) | undefined;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    const batch = takeBatch();
    settle(batch, commit(database, batch));
    if (queue.length > 0) schedule();
    else drained?.();
  }

  function takeBatch(): Job[] {
    let count = 0;
    let sizeBytes = 0;
    while (count < queue.length && count < batchLimits.commands && (count === 0 || sizeBytes < batchLimits.sizeBytes)) {
      sizeBytes += queue[count]?.sizeBytes ?? 0;
      count++;
    }
    const batch = queue.slice(0, count);
    queue = queue.slice(count);
    return batch;
  }

  return {
    write: (name, given, sizeBytes = 0) => {
      if (closed) return Promise.reject(writeFailed(new Error("the store is closed")));
      return new Promise((resolve, reject) => {
        const perform = () => handlers[name](given);
        queue.push({ sizeBytes, perform, resolve: resolve as (value: unknown) => void, reject });
        schedule();
      });
    },
    close: async () => {
      closed = true;
      if (queue.length > 0) await new Promise<void>((resolve) => (drained = resolve));
    },
  };
}

function settle(batch: readonly Job[], outcomes: readonly Outcome[]): void {
  batch.forEach((job, index) => {
    const outcome = outcomes[index] as Outcome;
    if ("error" in outcome) job.reject(outcome.error);
    else job.resolve(outcome.value);
  });
}

/**
 * A command that refuses (FaultError) has written nothing yet and leaves the others be.
 * When the disk refuses, the whole transaction is gone; each command is then tried alone, so that only the one that does not fit fails.
 */
function commit(database: Database, batch: readonly Job[]): Outcome[] {
  try {
    database.exec("BEGIN IMMEDIATE");
  } catch (error) {
    // A roll-back that failed before must not block all writes from then on.
    rollBack(database);
    return batch.map(() => ({ error: writeFailed(error) }));
  }
  try {
    const outcomes = batch.map((job): Outcome => {
      try {
        return { value: job.perform() };
      } catch (error) {
        if (!FaultError.is(error)) throw error;
        return { error };
      }
    });
    database.exec("COMMIT");
    return outcomes;
  } catch (error) {
    rollBack(database);
    return batch.length === 1 ? [{ error: writeFailed(error) }] : batch.flatMap((job) => commit(database, [job]));
  }
}

function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // There is nothing to roll back: SQLite does it by itself for a full disk.
  }
}

function writeFailed(cause: unknown): FaultError {
  const words = cause instanceof Error ? cause.message : String(cause);
  return new FaultError(fault("log/write-failed", `the disk refused the write: ${words}`), { cause });
}
