import type { AgentClientMessage } from "@keyturn/protocol/agent";
import type { Fault } from "./faults.js";
import type { ProviderData } from "./history.js";
import type { Blob, BlobId } from "./ids.js";
import type { Channel, RunOptions } from "./records.js";
import type { Usage } from "./usage.js";

/** What reaches a run through its mailbox, one at a time (R2). */
export type RunInput =
  | {
      readonly kind: "append";
      /** `next` on transports that keep the order themselves. */
      readonly number: number | "next";
      readonly hash: string;
      readonly bytes: Uint8Array;
      readonly message: AgentClientMessage;
      /** Heartbeat numbers seen since the append stored before. */
      readonly alsoSeen: readonly number[];
      readonly options: RunOptions;
    }
  /** Heartbeats whose numbers a stored append is waiting for; others never reach the mailbox. */
  | { readonly kind: "numbers"; readonly numbers: readonly number[] }
  | { readonly kind: "pass"; readonly pass: number; readonly event: PassEvent }
  | { readonly kind: "projected"; readonly projection: Projection }
  | { readonly kind: "projection-failed"; readonly revision: number; readonly why: string }
  | { readonly kind: "timer"; readonly timer: string }
  | { readonly kind: "cancel"; readonly fault: Fault }
  /** The server stops: the run ends so that its client may try again. */
  | { readonly kind: "stop" }
  | { readonly kind: "taken-over" };

/** What a provider pass reports. */
export type PassEvent =
  /** The history names blobs that neither we nor the client's message hold. The pass has not started. */
  | { readonly kind: "blobs-missing"; readonly blobs: readonly BlobId[] }
  | { readonly kind: "delta"; readonly channel: Channel; readonly text: string }
  | { readonly kind: "block-ended"; readonly channel: Channel; readonly provider?: ProviderData }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly args: string;
      readonly complete: boolean;
      readonly provider?: ProviderData;
    }
  | {
      readonly kind: "ended";
      readonly reason: "stop" | "tool-calls" | "length" | "content-filter" | "other";
      readonly usage: Usage;
    }
  | { readonly kind: "failed"; readonly fault: Fault };

/** A checkpoint ready to be offered: its frame and the blobs it stands on. */
export interface Projection {
  readonly revision: number;
  readonly root: BlobId;
  readonly frame: Uint8Array;
  readonly blobs: readonly Blob[];
}

/** What the shell has seen and the log does not hold: liveness, and who is listening. */
export interface Signs {
  readonly subscribers: number;
  /** Since when nobody listens, null while somebody does. */
  readonly absentSince: number | null;
  /** Whether anybody has listened since this process owns the run. */
  readonly everSubscribed: boolean;
  /** Last sign of life of each execution, by its id. */
  readonly execAt: ReadonlyMap<number, number>;
  /** Last sign of life of the running pass. */
  readonly passAt: number | null;
}

export const noSigns: Signs = {
  subscribers: 0,
  absentSince: null,
  everSubscribed: false,
  execAt: new Map(),
  passAt: null,
};
