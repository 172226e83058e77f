import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AgentServerMessageSchema, ConversationStepSchema, ToolCallSchema } from "@keyturn/protocol/agent";
import { blobOf } from "../conversation/blob.js";
import { extendState } from "../conversation/extend-state.js";
import { encodeMessage } from "../conversation/message-codec.js";
import type { Blob } from "../run/ids.js";
import type { Projection } from "../run/inputs.js";
import type { CallState, RunState, TurnEntry } from "../run/state.js";
import { wireMode } from "./begin.js";
import { turnFacts } from "./facts.js";
import type { HistoryLoader } from "./load-history.js";
import { turnMessages } from "./messages.js";
import { openingMessages } from "./opening.js";
import type { TurnServices } from "./services.js";
import { writeTodos } from "./todos.js";

/**
 * Projects a run to the state its client keeps: the state it started from plus this turn, as far as it has come
 * (O4). Made from scratch each time, so a later one never depends on whether an earlier one was taken.
 */
export async function projectCheckpoint(
  services: TurnServices,
  loader: HistoryLoader,
  state: RunState,
  revision: number,
): Promise<Projection> {
  const facts = turnFacts(state);
  const base = await loader.load(state);
  const model = services.models.resolve(state.request?.model ?? "");
  const opening = openingMessages(state, base.messages, model ?? { displayName: state.request?.model ?? "" });
  const { root, structure, blobs } = extendState(base.structure, {
    messages: [...opening, ...turnMessages(state)].map(encodeMessage),
    userMessage: await userMessageBlob(services, facts.userMessage),
    steps: state.turn.flatMap((entry) => stepOf(state, entry)),
    requestId: facts.requestId,
    mode: wireMode(facts.mode),
    todos: facts.todos.length > 0 ? writeTodos(facts.todos) : null,
    tokens: model ? { used: usedTokens(state), max: model.contextWindow } : null,
  });
  const frame = toBinary(
    AgentServerMessageSchema,
    create(AgentServerMessageSchema, { message: { case: "conversationCheckpointUpdate", value: structure } }),
  );
  return { revision, root: root.id, frame, blobs };
}

async function userMessageBlob(services: TurnServices, id: string | null): Promise<Blob | null> {
  if (id === null) return null;
  const bytes = (await services.blobs.get([id])).get(id);
  return bytes ? { id, bytes } : null;
}

/** Entries and calls never change once they are there, so their encoding is kept with them. */
const encodedSteps = new WeakMap<TurnEntry | CallState, Blob>();

function stepOf(state: RunState, entry: TurnEntry): Blob[] {
  if (entry.kind === "note") return [];
  const call = entry.kind === "call" ? state.calls.get(entry.callId) : undefined;
  if (entry.kind === "call" && !call?.result) return [];
  if (entry.kind !== "call" && entry.text === "") return [];
  const kept = encodedSteps.get(call ?? entry);
  if (kept) return [kept];
  const step = blobOf(encodeStep(entry, call));
  encodedSteps.set(call ?? entry, step);
  return [step];
}

function encodeStep(entry: Exclude<TurnEntry, { kind: "note" }>, call: CallState | undefined): Uint8Array {
  const step = create(ConversationStepSchema);
  if (entry.kind === "text") {
    step.message = { case: "assistantMessage", value: { $typeName: "agent.v1.AssistantMessage", text: entry.text } };
  } else if (entry.kind === "thinking") {
    const durationMs = Math.max(0, Math.round(entry.durationMs));
    step.message = {
      case: "thinkingMessage",
      value: { $typeName: "agent.v1.ThinkingMessage", text: entry.text, durationMs },
    };
  } else if (call?.result) {
    step.message = { case: "toolCall", value: fromBinary(ToolCallSchema, call.result.toolCall) };
  }
  return toBinary(ConversationStepSchema, step);
}

function usedTokens(state: RunState): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = state.passUsage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
