import type { AgentClientMessage } from "@keyturn/protocol/agent";
import type { ServerMessageInit } from "@keyturn/protocol/init";
import type { Blob, BlobId, Json, Position, RunKey } from "../run/ids.js";
import type { PassEvent, Projection } from "../run/inputs.js";
import type { RunState } from "../run/state.js";

/** A record as the log keeps it: see the store's port, which has the same shape. */
export interface LogRecord {
  readonly position: Position;
  readonly fence: number;
  readonly at: number;
  readonly kind: string;
  readonly body: Json;
  readonly payload: Uint8Array | null;
  readonly frame: Uint8Array | null;
}

export interface LogFrame {
  readonly position: Position;
  readonly kind: string;
  readonly body: Json;
  readonly frame: Uint8Array;
}

export interface LogRun {
  readonly key: RunKey;
  readonly fence: number;
  readonly lastPosition: Position;
  readonly ended: boolean;
  readonly createdAt: number;
}

/** The fence of a run that nobody has claimed since it was opened. */
export const firstFence = 1;

/** The durable log as the engine needs it. Calls of one tick are carried out in their order, in one commit. */
export interface RunLog {
  /** Creates the run with `firstFence` if absent. */
  open(key: RunKey, at: number): Promise<LogRun>;
  newest(requestId: string): Promise<LogRun | undefined>;
  claim(key: RunKey): Promise<number>;
  append(entry: {
    readonly key: RunKey;
    readonly fence: number;
    readonly records: readonly LogRecord[];
    readonly blobs?: readonly Blob[];
    readonly conversationId?: string;
    readonly ended?: boolean;
    readonly newestRoot?: { readonly conversationId: string; readonly root: BlobId };
  }): Promise<void>;
  read(key: RunKey, after: Position, limit: number): Promise<LogRecord[]>;
  readFrames(key: RunKey, after: Position, limit: number): Promise<LogFrame[]>;
  unfinished(): Promise<LogRun[]>;
}

/** What runs in the world on a run's behalf. The engine knows neither models nor prompts. */
export interface TurnEffects {
  /**
   * Runs the pass the state is in, reporting through `emit`; resolves when it has reported its end.
   * `emit` resolves when the mailbox has room again. `alive` says that something was heard of the provider.
   * An abort of the signal ends it at once, without a report.
   */
  runPass(
    state: RunState,
    emit: (event: PassEvent) => Promise<void>,
    alive: () => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Projects the state to a checkpoint. */
  project(state: RunState, revision: number): Promise<Projection>;
}

/** Bytes to messages and back. */
export interface Codec {
  encodeServerMessage(message: ServerMessageInit): Uint8Array;
  decodeClientMessage(bytes: Uint8Array): AgentClientMessage;
  hash(bytes: Uint8Array): string;
}

/** Time as the engine sees it; tests hand in their own. */
export interface Clock {
  now(): number;
  /** Calls back once, not before `at`; the returned function forgets it. */
  wakeAt(at: number, wake: () => void): () => void;
}

/** Where the engine reports what operators want to see. Never holds prompts or keys. */
export interface EngineReports {
  runStarted(key: RunKey): void;
  runEnded(key: RunKey, outcome: string, durationMs: number): void;
  lateInput(kind: string): void;
  problem(what: string, key: RunKey, cause: unknown): void;
}

/** The system's clock; timers never keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wakeAt(at, wake) {
    // setTimeout overflows beyond 2^31-1 ms and would fire at once.
    const timer = setTimeout(wake, Math.min(Math.max(0, at - Date.now()), 2 ** 31 - 1));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
