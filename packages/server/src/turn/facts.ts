import type { BlobId } from "../run/ids.js";
import type { Facts } from "../run/records.js";
import type { McpRoute, TodoState } from "../tools/tool.js";
import type { ContextFacts, SelectedFacts } from "./prompt/index.js";

export type Mode = "agent" | "ask" | "plan" | "debug";

/** What a turn knows of its request and its client: JSON, kept in the run's records. */
export interface TurnFacts {
  readonly requestId: string;
  readonly mode: Mode;
  readonly previousMode: Mode | null;
  readonly parameters: { readonly [id: string]: string };
  /** The user's words; null when the request carries no user message (resume). */
  readonly text: string | null;
  readonly selected: SelectedFacts;
  readonly images: readonly { readonly mediaType: string; readonly blobId: BlobId }[];
  /** What could not be shown of the images, in words. */
  readonly imageNotes: readonly string[];
  /** The user message as the client sent it. */
  readonly userMessage: BlobId | null;
  readonly customSystemPrompt: string | null;
  readonly subagentType: string | null;
  /** What the client's definition of the subagent type tells it. */
  readonly subagentPrompt: string | null;
  /** The conversation state the request starts from; null for a new conversation. */
  readonly base: BlobId | null;
  readonly context: ContextFacts | null;
  readonly mcp: readonly McpRoute[];
  readonly todos: readonly TodoState[];
  readonly startedAt: number;
}

/** Facts as the core keeps them: opaque JSON. */
export function toFacts(facts: Partial<TurnFacts>): Facts {
  return facts as unknown as Facts;
}

/** Facts as the turn wrote them. Only for states whose run was accepted. */
export function turnFacts(state: { readonly facts: Facts }): TurnFacts {
  return state.facts as unknown as TurnFacts;
}
