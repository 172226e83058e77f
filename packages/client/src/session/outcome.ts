import type { ServerError, ServerRefusal } from "./refusal.js";

/** The tokens of a whole turn. */
export interface TurnUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

/** How a run ended for the client; exactly one of these, and never none. */
export type RunOutcome =
  | { readonly kind: "finished"; readonly usage: TurnUsage | undefined }
  /** The run failed, and the server says why. With `isRetryable` the conversation may go on by a new run. */
  | { readonly kind: "failed"; readonly error: ServerError; readonly usage: TurnUsage | undefined }
  | { readonly kind: "cancelled"; readonly why: string }
  /** The server did not take the run or one of its messages. */
  | { readonly kind: "refused"; readonly refusal: ServerRefusal }
  /** The connection broke and did not come back in time. The run may go on without this client. */
  | { readonly kind: "lost"; readonly why: string };

/** The outcome of a stream that the server ended with a last word. */
export function outcomeOf(error: ServerError | undefined, usage: TurnUsage | undefined): RunOutcome {
  if (!error) return { kind: "finished", usage };
  if (error.code === "canceled") return { kind: "cancelled", why: error.message };
  return { kind: "failed", error, usage };
}
