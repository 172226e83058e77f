import type { ModelInfo } from "../models/port.js";
import type { HistoryMessage, SystemMessage, UserPart } from "../run/history.js";
import type { RunState } from "../run/state.js";
import { offeredTools } from "../tools/catalogue.js";
import { type TurnFacts, turnFacts } from "./facts.js";
import { changedSections, renderSystem, renderUserMessage, systemSections } from "./prompt/index.js";
import { toolContext } from "./tool-context.js";

/**
 * The messages a run puts before the model's first word: the system message of a new conversation, and the user
 * message. A pure function of the run's facts and its history, so that every pass sends the same bytes (I-123).
 */
export function openingMessages(
  state: RunState,
  history: readonly HistoryMessage[],
  model: Pick<ModelInfo, "displayName">,
): readonly HistoryMessage[] {
  const facts = turnFacts(state);
  const toolNames = offeredTools(toolContext(state, facts.startedAt)).map((tool) => tool.name);
  const sections = systemSections({
    context: facts.context,
    customSystemPrompt: facts.customSystemPrompt ?? undefined,
    toolNames,
    subagentType: facts.subagentType ?? undefined,
    subagentPrompt: facts.subagentPrompt ?? undefined,
    modelName: model.displayName,
  });
  const system = history.find((message) => message.role === "system");
  const opening: HistoryMessage[] = system ? [] : [{ role: "system", content: renderSystem(sections) }];
  const user = userMessage(facts, history, system ? changedSections(toldSoFar(system, history), sections) : []);
  return user ? [...opening, user] : opening;
}

function userMessage(
  facts: TurnFacts,
  history: readonly HistoryMessage[],
  changed: ReturnType<typeof changedSections>,
): HistoryMessage | undefined {
  const text = facts.text ?? (history.at(-1)?.role === "user" ? null : "Go on with what you were doing.");
  if (text === null) return undefined;
  const first = !history.some((message) => message.role === "user");
  const parts = renderUserMessage({
    text,
    selected: facts.selected,
    mode: facts.mode,
    previousMode: facts.previousMode ?? undefined,
    context: facts.context,
    history,
    first,
    changedSections: changed,
    date: dateIn(facts.context?.env?.timeZone, facts.startedAt),
    imageNotes: facts.imageNotes,
  });
  const images: UserPart[] = facts.images.map(({ mediaType, blobId }) => ({ type: "image", mediaType, blobId }));
  return { role: "user", content: [...parts.map((part): UserPart => ({ type: "text", text: part })), ...images] };
}

/** Formatters cost far more than what they format, and clients live in few time zones. */
const dayFormats = new Map<string, Intl.DateTimeFormat>();

/** The day the turn started, where the client is: rendered once and kept, so that midnight changes no prefix (W18). */
function dateIn(timeZone: string | undefined, at: number): string {
  try {
    return dayFormat(timeZone || "UTC").format(at);
  } catch {
    return dayFormat("UTC").format(at);
  }
}

function dayFormat(timeZone: string): Intl.DateTimeFormat {
  const kept = dayFormats.get(timeZone);
  if (kept) return kept;
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  if (dayFormats.size < 100) dayFormats.set(timeZone, format);
  return format;
}

/** The system message and what later messages announced as changed: what the model has been told of its setting. */
function toldSoFar(system: SystemMessage, history: readonly HistoryMessage[]): string {
  const later = history.flatMap((message) => (message.role === "user" ? message.content : []));
  const updates = later.flatMap((part) => (part.type === "text" && part.text.startsWith("<updated") ? part.text : []));
  return [system.content, ...updates].join("\n");
}
