import type { Migration } from "./migration.js";

/**
 * Records are clustered by run and position, so a backlog is one range of the file.
 * Their frame stands before their payload: a subscriber's read never walks over the bytes it does not want.
 * Records have no foreign key: every append has just proved that its run exists, and the check would be paid a row.
 */
export const initial: Migration = {
  version: 1,
  sql: `
    CREATE TABLE runs (
      id INTEGER PRIMARY KEY,
      request_id TEXT NOT NULL,
      generation INTEGER NOT NULL,
      fence INTEGER NOT NULL,
      last_position INTEGER NOT NULL,
      ended INTEGER NOT NULL,
      conversation_id TEXT,
      created_at INTEGER NOT NULL,
      ended_at INTEGER,
      UNIQUE (request_id, generation)
    ) STRICT;
    CREATE INDEX runs_unfinished ON runs (id) WHERE ended = 0;
    CREATE INDEX runs_ended_at ON runs (ended_at) WHERE ended = 1;
    CREATE INDEX runs_conversation ON runs (conversation_id, id);

    CREATE TABLE records (
      run INTEGER NOT NULL,
      position INTEGER NOT NULL,
      fence INTEGER NOT NULL,
      at INTEGER NOT NULL,
      kind TEXT NOT NULL,
      checksum INTEGER NOT NULL,
      payload_checksum INTEGER NOT NULL,
      body TEXT NOT NULL,
      frame BLOB,
      payload BLOB,
      PRIMARY KEY (run, position)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE blobs (
      id BLOB NOT NULL UNIQUE,
      bytes BLOB NOT NULL
    ) STRICT;

    CREATE TABLE conversations (
      id TEXT PRIMARY KEY,
      root BLOB,
      name TEXT,
      workspace_paths TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX conversations_updated_at ON conversations (updated_at);

    CREATE TABLE api_keys (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE,
      created_at INTEGER NOT NULL,
      revoked_at INTEGER
    ) STRICT;

    CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value BLOB NOT NULL
    ) STRICT;
  `,
};
