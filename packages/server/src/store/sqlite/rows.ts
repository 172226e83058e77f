import { Buffer } from "node:buffer";
import { FaultError, fault } from "../../run/faults.js";
import type { BlobId } from "../../run/ids.js";
import type { ConversationRow, KeyRow, RunRow } from "../port.js";
import type { SqlRow } from "./database.js";

/** Whether the text is a blob id: 64 lower-case hex digits. */
export function isBlobId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** A blob id as it is stored: its 32 bytes. Throws FaultError `request/invalid` for anything else. */
export function blobKey(id: BlobId): Uint8Array {
  if (!isBlobId(id)) throw new FaultError(fault("request/invalid", "a blob id must be 64 lower-case hex digits"));
  return Buffer.from(id, "hex");
}

/** A row of `runs`. */
export function decodeRun(row: SqlRow): RunRow {
  return {
    key: { requestId: row.request_id as string, generation: row.generation as number },
    fence: row.fence as number,
    lastPosition: row.last_position as number,
    ended: row.ended === 1,
    conversationId: row.conversation_id as string | null,
    createdAt: row.created_at as number,
    endedAt: row.ended_at as number | null,
  };
}

/** A row of `conversations`. */
export function decodeConversation(row: SqlRow): ConversationRow {
  return {
    conversationId: row.id as string,
    root: decodeRoot(row.root),
    name: row.name as string | null,
    workspacePaths: JSON.parse(row.workspace_paths as string) as string[],
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  };
}

/** The root column of a conversation. */
export function decodeRoot(root: SqlRow[string] | undefined): BlobId | null {
  return root instanceof Uint8Array ? Buffer.from(root).toString("hex") : null;
}

/** A row of `api_keys`. */
export function decodeKey(row: SqlRow): KeyRow {
  return {
    id: row.id as string,
    name: row.name as string,
    hash: row.hash as string,
    createdAt: row.created_at as number,
    revokedAt: row.revoked_at as number | null,
  };
}
