import type { Blob, BlobId, Json, Position, RunKey } from "../run/ids.js";

/** One record as it lies in the log. `body` is small JSON; `payload` and `frame` are bytes or null. */
export interface StoredRecord {
  readonly position: Position;
  /** Fence of the owner that wrote it; equals the fence of its append. */
  readonly fence: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: string;
  readonly body: Json;
  /** What the record is about beyond its body, such as the bytes of a client message. */
  readonly payload: Uint8Array | null;
  /** The bytes that go to every subscriber, encoded once. */
  readonly frame: Uint8Array | null;
}

/** A record with a frame, as a subscriber's pump reads it. */
export interface StoredFrame {
  readonly position: Position;
  readonly kind: string;
  readonly body: Json;
  readonly frame: Uint8Array;
}

/** What the store knows of a run without reading its records. */
export interface RunRow {
  readonly key: RunKey;
  /** The fence of the present owner; an append that carries another is refused. */
  readonly fence: number;
  /** 0 for a run without records. */
  readonly lastPosition: Position;
  readonly ended: boolean;
  readonly conversationId: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch: the time of the record that ended the run. */
  readonly endedAt: number | null;
}

/** One append: everything in it is stored, or nothing of it. */
export interface LogAppend {
  readonly key: RunKey;
  readonly fence: number;
  /** Positions follow the run's last one without a gap. May be empty. */
  readonly records: readonly StoredRecord[];
  /** Stored with the records; those that are there already are skipped. */
  readonly blobs?: readonly Blob[];
  /** Ties the run to a conversation, from now on. */
  readonly conversationId?: string;
  /** True when a record of this append is the run's end. An ended run never becomes unfinished again. */
  readonly ended?: boolean;
  /** The newest root of a conversation, as of this append. */
  readonly newestRoot?: { readonly conversationId: string; readonly root: BlobId };
}

/** Which runs to list; newest first. */
export interface RunFilter {
  readonly limit: number;
  readonly conversationId?: string;
  readonly ended?: boolean;
}

/** The append-only log of all runs. */
export interface LogStore {
  /** Creates the run row with fence 1 if absent and returns it. `at` is in milliseconds since the epoch. */
  open(key: RunKey, at: number): Promise<RunRow>;
  /** The run's row, or undefined when there is no such run. */
  find(key: RunKey): Promise<RunRow | undefined>;
  /** Newest generation of a request id. */
  newest(requestId: string): Promise<RunRow | undefined>;
  /** Takes ownership: increments and returns the fence. Rejects with `request/not-found` for an unknown run. */
  claim(key: RunKey): Promise<number>;
  /**
   * All or nothing per call; resolves once on disk.
   * Rejects with FaultError `log/stale-fence` when the fence moved, the positions do not follow on or the run is gone,
   * and with `log/write-failed` (cause kept) when the disk refused: then nothing of that call is stored.
   * Calls of the same tick share one commit (group commit); one bad call in a group never fails the others.
   * The bytes handed over must not change until the promise has settled.
   */
  append(entry: LogAppend): Promise<void>;
  /**
   * Records with position > after, in order, at most limit.
   * Verifies checksums: rejects with FaultError `run/unreadable`, naming run and position, at a damaged or missing record.
   */
  read(key: RunKey, after: Position, limit: number): Promise<StoredRecord[]>;
  /** Only records with a frame, position > after, at most limit; verified like `read` but their payloads are not read. */
  readFrames(key: RunKey, after: Position, limit: number): Promise<StoredFrame[]>;
  /** Every run without an end, oldest first. */
  unfinished(): Promise<RunRow[]>;
  /** Runs that match the filter, newest first. */
  listRuns(filter: RunFilter): Promise<RunRow[]>;
  /** Deletes runs that ended before the time (milliseconds) with their records; returns how many. Blobs stay. */
  prune(endedBefore: number): Promise<number>;
}

/** Immutable bytes under their SHA-256. */
export interface BlobStore {
  /** Stores what is not there yet; resolves once on disk. Trusts that every id is the hash of its bytes. */
  put(blobs: readonly Blob[]): Promise<void>;
  /** The blobs that are there. One whose bytes do not match its id is removed and counts as missing. */
  get(ids: readonly BlobId[]): Promise<Map<BlobId, Uint8Array>>;
}

/** What the store knows of a conversation besides its blobs. */
export interface ConversationRow {
  readonly conversationId: string;
  readonly root: BlobId | null;
  readonly name: string | null;
  readonly workspacePaths: readonly string[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch: the last new root or change of metadata. */
  readonly updatedAt: number;
}

/** Conversations by id. */
export interface ConversationStore {
  /** The root of the conversation's newest state that the log confirmed. */
  newestRoot(conversationId: string): Promise<BlobId | undefined>;
  /** Names the conversation, creating it when absent; an undefined name keeps the one it has. */
  setMetadata(conversationId: string, name: string | undefined, workspacePaths: readonly string[]): Promise<void>;
  get(conversationId: string): Promise<ConversationRow | undefined>;
  /** The most recently updated conversations first. */
  list(limit: number): Promise<ConversationRow[]>;
  /** Forgets the conversation's row; its runs and blobs stay. False when there was none. */
  delete(conversationId: string): Promise<boolean>;
}

/** One API key as stored: never the key itself. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  /** Lower-case hex SHA-256 of the key. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch, or null while the key is good. */
  readonly revokedAt: number | null;
}

/** The API keys. */
export interface KeyStore {
  /** Rejects when the id or the hash is taken. */
  add(entry: { id: string; name: string; hash: string; createdAt: number }): Promise<void>;
  /** All keys, revoked ones too, oldest first. */
  all(): Promise<KeyRow[]>;
  /** False when there is no such key or it was revoked before. */
  revoke(id: string, at: number): Promise<boolean>;
}

/** Small facts of the installation, such as the secret that access tokens are signed with. */
export interface MetaStore {
  get(name: string): Promise<Uint8Array | undefined>;
  /** Stores the value unless the name has one; returns what is stored then. */
  ensure(name: string, value: Uint8Array): Promise<Uint8Array>;
}

/** Everything that outlives the process. */
export interface Store {
  readonly log: LogStore;
  readonly blobs: BlobStore;
  readonly conversations: ConversationStore;
  readonly keys: KeyStore;
  readonly meta: MetaStore;
  /** Bytes on disk, for metrics. */
  sizeBytes(): Promise<number>;
  /** Waits for writes under way, leaves the files tidy and releases the data folder. Safe to call twice. */
  close(): Promise<void>;
}
