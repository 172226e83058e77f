import type { AgentServerMessage, ConversationStateStructure, InteractionQuery } from "@keyturn/protocol/agent";
import type { ClientStore } from "../store/client-store.js";
import type { RunRequestInit } from "./client-message.js";
import type { SessionClock } from "./clock.js";
import type { QueryAnswer } from "./default-answers.js";
import type { ExecutionHandler } from "./executions.js";
import type { Transport } from "./transport.js";

/** What a session tells, in order. */
export type SessionEvent =
  /** A message of the server, heartbeats apart; each once, whatever becomes of connections. */
  | {
      readonly kind: "message";
      readonly message: AgentServerMessage;
      /** Its place in the log of the run. */
      readonly position: number | undefined;
    }
  | { readonly kind: "connected"; readonly transport: Transport["name"]; readonly isAgain: boolean }
  | { readonly kind: "connection-lost"; readonly why: string; readonly retryInMs: number }
  /** Something went wrong that does not end the run. */
  | { readonly kind: "problem"; readonly what: string; readonly cause: unknown };

/** Times of a session. */
export interface SessionLimits {
  readonly heartbeatMs: number;
  /** So long nothing at all may be heard before the connection counts as broken. */
  readonly stallMs: number;
  /** So long it is tried to come back after the last that was heard. */
  readonly giveUpAfterMs: number;
  /** So long the server may take to end a run that was cancelled. */
  readonly cancelMs: number;
}

/** The times that every server of this protocol expects. */
export const defaultSessionLimits: SessionLimits = {
  heartbeatMs: 5_000,
  stallMs: 30_000,
  giveUpAfterMs: 120_000,
  cancelMs: 3_000,
};

/** How a session is opened. */
export interface SessionOptions {
  /** The ways to speak with the server; the first that works is kept. */
  readonly transports: readonly Transport[];
  /** A new one by default. The id of a run that exists to come back to it. */
  readonly requestId?: string;
  /** The message that starts the run; without it the session only joins. */
  readonly request?: RunRequestInit;
  /** Where to go on in the run's log; 0 for the start. */
  readonly position?: number;
  readonly store: Pick<ClientStore, "blob" | "putBlob">;
  /** Without one, executions are left unanswered. */
  readonly executor?: ExecutionHandler;
  /** Answers a question; undefined leaves it unanswered. The default is for runs where no person is. */
  readonly answerQuery?: (query: InteractionQuery, signal: AbortSignal) => Promise<QueryAnswer | undefined>;
  /** Keeps a checkpoint; its blobs are in the store. */
  readonly onCheckpoint?: (state: ConversationStateStructure) => Promise<void>;
  readonly limits?: Partial<SessionLimits>;
  readonly clock?: SessionClock;
  /** A number from 0 to 1. */
  readonly random?: () => number;
}
