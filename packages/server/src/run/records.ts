import type { Fault } from "./faults.js";
import type { ProviderData } from "./history.js";
import type { BlobId, Json } from "./ids.js";
import type { Outcome } from "./phases.js";
import type { Usage } from "./usage.js";

/** The version every record carries; a log with a newer one is not opened. */
export const recordVersion = 1;

/** What a run may use, fixed when it starts and kept with it (I-38). */
export interface RunOptions {
  /** How long a run goes on after its last subscriber left, in ms (R5). */
  readonly disconnectGraceMs: number;
  readonly maxPasses: number;
  readonly totalMs: number;
}

/** Facts of the turn, opaque to the core: written and read by the turn room through the logic port. */
export type Facts = { readonly [key: string]: Json | undefined };

export type PassEnd =
  | "stop"
  | "tool-calls"
  | "length"
  | "content-filter"
  | "other"
  | "blocked"
  | "interrupted"
  | "failed";

export type Channel = "text" | "thinking";

/** What became of one client execution. */
export type ExecHow = "answered" | "thrown" | "closed" | "silent" | "aborted";

/** A remark the turn room words for the model: why a pass is followed by another without tool results. */
export type Note = "interrupted" | "empty";

/**
 * Everything that can happen to a run, as data. The log holds these in order; state is their fold.
 * A record may carry one published frame beside it (see `RecordDraft`), never needed to fold.
 */
export type RunRecord =
  /** An append was accepted; its message waits in the inbox until `append-applied`. */
  | {
      readonly kind: "append-stored";
      readonly number: number;
      readonly hash: string;
      readonly bytes: Uint8Array;
      /** Numbers of heartbeats since the append stored before: consumed, but never records of their own (I9). */
      readonly alsoSeen: readonly number[];
      /** The message starts a run, which fixes whether numbers count from 0 or 1 (A1). */
      readonly starts: boolean;
    }
  | { readonly kind: "append-applied"; readonly number: number }
  | { readonly kind: "numbers-seen"; readonly numbers: readonly number[] }
  | { readonly kind: "gap-passed"; readonly upTo: number }
  | {
      readonly kind: "run-accepted";
      readonly conversationId: string;
      readonly model: string;
      /** Twelve hex characters derived from the run key: makes ids unique and stable (C1). */
      readonly tag: string;
      readonly facts: Facts;
      readonly options: RunOptions;
      /** Blobs the client is known to hold. */
      readonly held: readonly BlobId[];
    }
  /** Facts that changed; the others stay. */
  | { readonly kind: "facts-changed"; readonly facts: Facts }
  | { readonly kind: "owner-changed" }
  /** A frame that changes no state. */
  | { readonly kind: "notice" }
  | { readonly kind: "pass-started"; readonly pass: number; readonly modelCallId: string }
  | { readonly kind: "text-added"; readonly channel: Channel; readonly text: string }
  | { readonly kind: "block-closed"; readonly channel: Channel; readonly provider?: ProviderData }
  | {
      readonly kind: "call-opened";
      readonly callId: string;
      readonly pass: number;
      readonly name: string;
      /** The arguments as the model wrote them. */
      readonly args: string;
      /** False when the model was cut in the middle of the call: it is never executed (I-99). */
      readonly complete: boolean;
      readonly provider?: ProviderData;
      /** Calls with one lock run one after the other. */
      readonly lock?: string;
    }
  | {
      readonly kind: "exec-opened";
      readonly exec: number;
      readonly execId: string;
      readonly callId: string | null;
      readonly key: string;
    }
  | {
      readonly kind: "exec-output";
      readonly exec: number;
      readonly channel: "stdout" | "stderr";
      readonly text: string;
    }
  /** `number`: the append whose message is the answer; the bytes move from the inbox to the execution. */
  | {
      readonly kind: "exec-answered";
      readonly exec: number;
      readonly how: ExecHow;
      readonly number?: number;
      readonly error?: string;
    }
  | { readonly kind: "exec-close-seen"; readonly exec: number }
  | { readonly kind: "exec-closed"; readonly exec: number }
  | {
      readonly kind: "call-closed";
      readonly callId: string;
      readonly text: string;
      readonly isError: boolean;
      /** The encoded ToolCall with arguments and result (O7). */
      readonly toolCall: Uint8Array;
      readonly images: readonly { readonly mediaType: string; readonly blobId: BlobId }[];
    }
  | {
      readonly kind: "pass-ended";
      readonly pass: number;
      readonly reason: PassEnd;
      readonly usage: Usage;
      readonly fault?: Fault;
    }
  | { readonly kind: "noted"; readonly note: Note }
  | { readonly kind: "blob-asked"; readonly kv: number; readonly blobId: BlobId }
  | { readonly kind: "blob-received"; readonly kv: number; readonly found: boolean }
  | {
      readonly kind: "checkpoint-projected";
      readonly revision: number;
      readonly root: BlobId;
      /** The encoded checkpoint frame, published once its blobs are confirmed (O4). */
      readonly frame: Uint8Array;
      readonly needs: readonly BlobId[];
    }
  | { readonly kind: "blob-offered"; readonly kv: number; readonly blobId: BlobId }
  | { readonly kind: "blob-confirmed"; readonly kv: number; readonly ok: boolean }
  | { readonly kind: "checkpoint-published"; readonly revision: number }
  | { readonly kind: "checkpoint-dropped"; readonly revision: number; readonly why: string }
  | { readonly kind: "finishing"; readonly outcome: Outcome }
  | { readonly kind: "ended"; readonly outcome: Outcome };

export type RecordKind = RunRecord["kind"];
