import { FaultError, fault } from "../../run/faults.js";
import { type Blob, type BlobId, type RunKey, runName } from "../../run/ids.js";
import type { KeyRow, LogAppend, RunRow } from "../port.js";
import type { Database, SqlRow } from "./database.js";
import type { RecordRow } from "./record-codec.js";
import { blobKey, decodeRun } from "./rows.js";

type RunFacts = Pick<LogAppend, "key" | "fence" | "blobs" | "conversationId" | "ended" | "newestRoot">;

/** Every write of the store: what it is given and what it gives. */
export interface WriteCommands {
  open: { given: { key: RunKey; at: number }; gives: RunRow };
  claim: { given: { key: RunKey }; gives: number };
  append: { given: RunFacts & { rows: readonly RecordRow[]; at: number }; gives: void };
  "put-blobs": { given: { blobs: readonly Blob[] }; gives: void };
  "drop-blob": { given: { id: BlobId }; gives: void };
  "set-metadata": {
    given: { conversationId: string; name: string | undefined; workspacePaths: readonly string[]; at: number };
    gives: void;
  };
  "delete-conversation": { given: { conversationId: string }; gives: boolean };
  "add-key": { given: Omit<KeyRow, "revokedAt">; gives: void };
  "revoke-key": { given: { id: string; at: number }; gives: boolean };
  "ensure-meta": { given: { name: string; value: Uint8Array }; gives: Uint8Array };
  prune: { given: { endedBefore: number; limit: number }; gives: number };
}

/** One handler a command. A handler throws FaultError only before its first write; it runs inside a transaction. */
export type CommandHandlers = {
  readonly [Name in keyof WriteCommands]: (given: WriteCommands[Name]["given"]) => WriteCommands[Name]["gives"];
};

/** The handlers on a connection. */
export function commandHandlers(database: Database): CommandHandlers {
  const putBlobs = (blobs: readonly Blob[]) => {
    for (const { id, bytes } of blobs) {
      const key = blobKey(id);
      // Asked first, since the insert would copy the bytes before it sees that they are there.
      if (database.get("SELECT 1 FROM blobs WHERE id = ?", key) !== undefined) continue;
      database.run("INSERT INTO blobs (id, bytes) VALUES (?, ?)", key, bytes);
    }
  };

  return {
    open: ({ key, at }) => {
      database.run(
        `INSERT INTO runs (request_id, generation, fence, last_position, ended, created_at) VALUES (?, ?, 1, 0, 0, ?)
         ON CONFLICT DO NOTHING`,
        key.requestId,
        key.generation,
        at,
      );
      return decodeRun(findRun(database, key) as SqlRow);
    },
    claim: ({ key }) => {
      const row = database.get(
        "UPDATE runs SET fence = fence + 1 WHERE request_id = ? AND generation = ? RETURNING fence",
        key.requestId,
        key.generation,
      );
      if (row === undefined) throw new FaultError(fault("request/not-found", `there is no run ${runName(key)}`));
      return Number(row.fence);
    },
    append: (given) => {
      const run = advanceRun(database, given);
      for (const row of given.rows) insertRecord(database, run, row);
      if (given.blobs !== undefined) putBlobs(given.blobs);
      const { conversationId, newestRoot, at } = given;
      if (conversationId !== undefined && conversationId !== newestRoot?.conversationId) {
        touchConversation(database, conversationId, null, at);
      }
      if (newestRoot !== undefined)
        touchConversation(database, newestRoot.conversationId, blobKey(newestRoot.root), at);
    },
    "put-blobs": ({ blobs }) => putBlobs(blobs),
    "drop-blob": ({ id }) => void database.run("DELETE FROM blobs WHERE id = ?", blobKey(id)),
    "set-metadata": ({ conversationId, name, workspacePaths, at }) => {
      touchConversation(database, conversationId, null, at);
      database.run(
        "UPDATE conversations SET name = coalesce(?, name), workspace_paths = ? WHERE id = ?",
        name ?? null,
        JSON.stringify(workspacePaths),
        conversationId,
      );
    },
    "delete-conversation": ({ conversationId }) =>
      database.run("DELETE FROM conversations WHERE id = ?", conversationId) > 0,
    "add-key": ({ id, name, hash, createdAt }) => {
      if (database.get("SELECT 1 FROM api_keys WHERE id = ? OR hash = ?", id, hash) !== undefined) {
        throw new FaultError(fault("request/invalid", `there is an API key ${id} or one with the same value already`));
      }
      database.run("INSERT INTO api_keys (id, name, hash, created_at) VALUES (?, ?, ?, ?)", id, name, hash, createdAt);
    },
    "revoke-key": ({ id, at }) =>
      database.run("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", at, id) > 0,
    "ensure-meta": ({ name, value }) => {
      database.run("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", name, value);
      return database.get("SELECT value FROM meta WHERE name = ?", name)?.value as Uint8Array;
    },
    prune: ({ endedBefore, limit }) => {
      const runs = database.all(
        "SELECT id FROM runs WHERE ended = 1 AND ended_at < ? ORDER BY ended_at LIMIT ?",
        endedBefore,
        limit,
      );
      for (const { id } of runs) {
        database.run("DELETE FROM records WHERE run = ?", id as number);
        database.run("DELETE FROM runs WHERE id = ?", id as number);
      }
      if (runs.length > 0) shrink(database);
      return runs.length;
    },
  };
}

/** Gives free pages back to the disk once they are a good part of the file; below that the next records fill them. */
function shrink(database: Database): void {
  const free = Number(database.get("PRAGMA freelist_count")?.freelist_count);
  const all = Number(database.get("PRAGMA page_count")?.page_count);
  if (free > all / 4) database.exec("PRAGMA incremental_vacuum(2000)");
}

/** The row of a run, all columns. */
export function findRun(database: Database, key: RunKey): SqlRow | undefined {
  return database.get("SELECT * FROM runs WHERE request_id = ? AND generation = ?", key.requestId, key.generation);
}

/** Check and advance are one statement: the fence is proven in the transaction that writes (I-35). */
function advanceRun(database: Database, given: WriteCommands["append"]["given"]): number {
  const { key, fence, rows, conversationId, ended, at } = given;
  const before = rows[0] === undefined ? null : rows[0].position - 1;
  const last = rows.at(-1)?.position ?? null;
  // Setting a column rewrites its indexes even when the value stays: most appends only move the position.
  const run =
    conversationId === undefined && ended !== true
      ? database.get(
          `UPDATE runs SET last_position = coalesce(?, last_position)
           WHERE request_id = ? AND generation = ? AND fence = ? AND last_position = coalesce(?, last_position) RETURNING id`,
          last,
          key.requestId,
          key.generation,
          fence,
          before,
        )
      : database.get(
          `UPDATE runs SET last_position = coalesce(?, last_position), conversation_id = coalesce(?, conversation_id),
       ended_at = CASE WHEN ? = 1 THEN coalesce(ended_at, ?) ELSE ended_at END, ended = max(ended, ?)
     WHERE request_id = ? AND generation = ? AND fence = ? AND last_position = coalesce(?, last_position) RETURNING id`,
          last,
          conversationId ?? null,
          ended === true ? 1 : 0,
          at,
          ended === true ? 1 : 0,
          key.requestId,
          key.generation,
          fence,
          before,
        );
  if (run !== undefined) return run.id as number;
  const row = findRun(database, key);
  const found = row === undefined ? undefined : decodeRun(row);
  const why =
    found === undefined
      ? "is not in the log"
      : found.fence !== fence
        ? `has fence ${found.fence}, the append carries ${fence}`
        : `ends at position ${found.lastPosition}, the append starts at ${rows[0]?.position}`;
  throw new FaultError(fault("log/stale-fence", `run ${runName(key)} ${why}`));
}

function insertRecord(database: Database, run: number, row: RecordRow): void {
  database.run(
    `INSERT INTO records (run, position, fence, at, kind, checksum, payload_checksum, body, frame, payload)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    run,
    row.position,
    row.fence,
    row.at,
    row.kind,
    row.checksum,
    row.payloadChecksum,
    row.body,
    row.frame,
    row.payload,
  );
}

function touchConversation(database: Database, id: string, root: Uint8Array | null, at: number): void {
  database.run(
    `INSERT INTO conversations (id, root, workspace_paths, created_at, updated_at) VALUES (?1, ?2, '[]', ?3, ?3)
     ON CONFLICT (id) DO UPDATE SET root = coalesce(excluded.root, root), updated_at = max(updated_at, excluded.updated_at)`,
    id,
    root,
    at,
  );
}
