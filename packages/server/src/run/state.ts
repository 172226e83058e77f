import type { ProviderData } from "./history.js";
import type { BlobId, Position, RunKey } from "./ids.js";
import type { CapturedOutput } from "./output.js";
import type { Phase } from "./phases.js";
import type { Channel, ExecHow, Facts, Note, PassEnd, RunOptions } from "./records.js";
import { emptySequence, type SequenceState } from "./sequence.js";
import { noUsage, type Usage } from "./usage.js";

/** One thing the run produced or was told, in order: what the next pass's prompt and the checkpoint are made of. */
export type TurnEntry =
  | { readonly kind: "text"; readonly pass: number; readonly text: string; readonly provider?: ProviderData }
  | {
      readonly kind: "thinking";
      readonly pass: number;
      readonly text: string;
      readonly durationMs: number;
      readonly provider?: ProviderData;
    }
  | { readonly kind: "call"; readonly pass: number; readonly callId: string }
  | { readonly kind: "note"; readonly pass: number; readonly note: Note };

export interface AcceptedRequest {
  readonly conversationId: string;
  readonly model: string;
  readonly tag: string;
  readonly options: RunOptions;
  readonly acceptedAt: number;
}

export interface CallState {
  readonly callId: string;
  readonly pass: number;
  readonly name: string;
  readonly args: string;
  readonly complete: boolean;
  readonly provider?: ProviderData;
  readonly lock?: string;
  readonly openedAt: number;
  /** `queued`: its lock is held by an earlier call. */
  readonly status: "queued" | "open" | "closed";
  /** Ids of its executions, in the order asked. */
  readonly execs: readonly number[];
  readonly result?: {
    readonly text: string;
    readonly isError: boolean;
    readonly toolCall: Uint8Array;
    readonly images: readonly { readonly mediaType: string; readonly blobId: BlobId }[];
    readonly closedAt: number;
  };
}

export interface ExecState {
  readonly exec: number;
  readonly execId: string;
  /** Null for the request context, which belongs to no tool call. */
  readonly callId: string | null;
  readonly key: string;
  readonly openedAt: number;
  readonly status: "open" | "answered" | "closed";
  readonly outcome?: { readonly how: ExecHow; readonly bytes?: Uint8Array; readonly error?: string };
  readonly output?: CapturedOutput;
  readonly answeredAt?: number;
  /** When its stream was closed, if that came before a result. */
  readonly closeSeenAt?: number;
}

export interface BlobExchange {
  readonly nextKv: number;
  readonly asked: ReadonlyMap<number, { readonly blobId: BlobId; readonly at: number }>;
  /** Blobs the client said it does not have: not asked again. */
  readonly lost: ReadonlySet<BlobId>;
  readonly offered: ReadonlyMap<number, { readonly blobId: BlobId; readonly at: number }>;
  /** Blobs the client is known to hold. */
  readonly held: ReadonlySet<BlobId>;
}

export interface CheckpointState {
  /** Bumped by every completed step. */
  readonly wanted: number;
  /** Newest revision that was published or given up. */
  readonly settled: number;
  readonly pending: {
    readonly revision: number;
    readonly root: BlobId;
    readonly frame: Uint8Array;
    readonly needs: readonly BlobId[];
    readonly since: number;
  } | null;
}

/** Everything there is to know of a run: the fold of its records, nothing else. */
export interface RunState {
  readonly key: RunKey;
  readonly position: Position;
  readonly createdAt: number;
  readonly phase: Phase;
  readonly sequence: SequenceState;
  readonly request: AcceptedRequest | null;
  readonly facts: Facts;
  readonly passes: number;
  /** How the last pass ended; `blocked`: before it reached the model, for want of blobs. */
  readonly lastEnd: PassEnd | null;
  /** Passes cut in a row; a pass that ends by itself clears it. */
  readonly interruptions: number;
  /** The block the model is writing. */
  readonly block: { readonly channel: Channel; readonly text: string; readonly since: number } | null;
  readonly turn: readonly TurnEntry[];
  readonly calls: ReadonlyMap<string, CallState>;
  readonly execs: ReadonlyMap<number, ExecState>;
  readonly nextExec: number;
  readonly blobs: BlobExchange;
  readonly checkpoint: CheckpointState;
  /** The whole turn's. */
  readonly usage: Usage;
  /** Of the last pass that reported any. */
  readonly passUsage: Usage;
  /** How often the run changed owners. */
  readonly takeovers: number;
  /** When another owner took the run over, the first time being its creation. */
  readonly ownedSince: number;
}

/** The state of a run whose log is empty. */
export function newRun(key: RunKey, at: number): RunState {
  return {
    key,
    position: 0,
    createdAt: at,
    phase: { kind: "idle", since: at },
    sequence: emptySequence,
    request: null,
    facts: {},
    passes: 0,
    lastEnd: null,
    interruptions: 0,
    block: null,
    turn: [],
    calls: new Map(),
    execs: new Map(),
    nextExec: 1,
    blobs: { nextKv: 1, asked: new Map(), lost: new Set(), offered: new Map(), held: new Set() },
    checkpoint: { wanted: 0, settled: 0, pending: null },
    usage: noUsage,
    passUsage: noUsage,
    takeovers: 0,
    ownedSince: at,
  };
}

/** Calls that have no result yet, in call order. */
export function openCalls(state: RunState): readonly CallState[] {
  return [...state.calls.values()].filter((call) => call.status !== "closed");
}

/** Executions without an outcome, in the order opened. */
export function openExecs(state: RunState): readonly ExecState[] {
  return [...state.execs.values()].filter((exec) => exec.status === "open");
}
