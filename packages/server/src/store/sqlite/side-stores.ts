import { createHash } from "node:crypto";
import type { Blob, BlobId } from "../../run/ids.js";
import type { BlobStore, ConversationStore, KeyStore, MetaStore } from "../port.js";
import type { Database } from "./database.js";
import { blobKey, decodeConversation, decodeKey, decodeRoot, isBlobId } from "./rows.js";
import type { LogWriter } from "./writer.js";

/** Blobs on SQLite; `damaged` hears of each one that was removed because its bytes did not match its id. */
export function sqliteBlobStore(database: Database, writer: LogWriter, damaged: (id: BlobId) => void): BlobStore {
  return {
    put: async (blobs: readonly Blob[]) => {
      const sizeBytes = blobs.reduce((sum, { id, bytes }) => sum + blobKey(id).length + bytes.length, 0);
      if (blobs.length > 0) await writer.write("put-blobs", { blobs }, sizeBytes);
    },
    get: async (ids: readonly BlobId[]) => {
      const found = new Map<BlobId, Uint8Array>();
      for (const id of new Set(ids)) {
        if (!isBlobId(id)) continue;
        const bytes = database.get("SELECT bytes FROM blobs WHERE id = ?", blobKey(id))?.bytes;
        if (!(bytes instanceof Uint8Array)) continue;
        if (createHash("sha256").update(bytes).digest("hex") === id) {
          found.set(id, bytes);
          continue;
        }
        // Removed, so that the client can be asked for it and a sound copy can take its place.
        await writer.write("drop-blob", { id });
        damaged(id);
      }
      return found;
    },
  };
}

/** Conversations on SQLite. */
export function sqliteConversationStore(database: Database, writer: LogWriter, now: () => number): ConversationStore {
  return {
    newestRoot: async (conversationId) =>
      decodeRoot(database.get("SELECT root FROM conversations WHERE id = ?", conversationId)?.root) ?? undefined,
    setMetadata: (conversationId, name, workspacePaths) =>
      writer.write("set-metadata", { conversationId, name, workspacePaths, at: now() }),
    get: async (conversationId) => {
      const row = database.get("SELECT * FROM conversations WHERE id = ?", conversationId);
      return row === undefined ? undefined : decodeConversation(row);
    },
    list: async (limit) =>
      database.all("SELECT * FROM conversations ORDER BY updated_at DESC, id LIMIT ?", limit).map(decodeConversation),
    delete: (conversationId) => writer.write("delete-conversation", { conversationId }),
  };
}

/** API keys on SQLite. */
export function sqliteKeyStore(database: Database, writer: LogWriter): KeyStore {
  return {
    add: (entry) => writer.write("add-key", entry),
    all: async () => database.all("SELECT * FROM api_keys ORDER BY created_at, rowid").map(decodeKey),
    revoke: (id, at) => writer.write("revoke-key", { id, at }),
  };
}

/** Facts of the installation on SQLite. */
export function sqliteMetaStore(database: Database, writer: LogWriter): MetaStore {
  return {
    get: async (name) => {
      const value = database.get("SELECT value FROM meta WHERE name = ?", name)?.value;
      return value instanceof Uint8Array ? value : undefined;
    },
    ensure: (name, value) => writer.write("ensure-meta", { name, value }),
  };
}
