import type { AssistantPart, HistoryMessage, ToolResultPart } from "../run/history.js";
import type { Json } from "../run/ids.js";
import type { CallState, RunState, TurnEntry } from "../run/state.js";
import { parseArguments } from "../tools/parse-arguments.js";
import { renderNote } from "./prompt/index.js";

/**
 * The messages this run has added after its user message: for each pass what the model wrote, then the results of
 * its calls in call order (U1). A call without a result is left out together with its place: while the run lives
 * it is still under way, and it never ends with one (I-31).
 */
export function turnMessages(state: RunState): readonly HistoryMessage[] {
  const messages: HistoryMessage[] = [];
  for (const entries of passesOf(state.turn)) {
    const calls = entries.flatMap((entry) => (entry.kind === "call" ? (state.calls.get(entry.callId) ?? []) : []));
    const content = entries.flatMap((entry) => assistantPart(state, entry));
    if (content.length > 0) messages.push({ role: "assistant", content });
    const results = calls.flatMap(resultPart);
    if (results.length > 0) messages.push({ role: "tool", content: results });
    for (const entry of entries) {
      if (entry.kind === "note")
        messages.push({ role: "user", content: [{ type: "text", text: renderNote(entry.note) }] });
    }
  }
  return messages;
}

function passesOf(turn: readonly TurnEntry[]): readonly (readonly TurnEntry[])[] {
  const passes = new Map<number, TurnEntry[]>();
  for (const entry of turn) {
    const entries = passes.get(entry.pass);
    if (entries) entries.push(entry);
    else passes.set(entry.pass, [entry]);
  }
  return [...passes.values()];
}

function assistantPart(state: RunState, entry: TurnEntry): AssistantPart[] {
  const provider = "provider" in entry && entry.provider ? { provider: entry.provider } : {};
  switch (entry.kind) {
    case "text":
      return entry.text === "" && !("provider" in provider) ? [] : [{ type: "text", text: entry.text, ...provider }];
    case "thinking":
      return [{ type: "reasoning", text: entry.text, ...provider }];
    case "call": {
      const call = state.calls.get(entry.callId);
      if (!call?.result) return [];
      const args = callArguments(call);
      const data = call.provider ? { provider: call.provider } : {};
      return [{ type: "tool-call", toolCallId: call.callId, toolName: call.name, args, ...data }];
    }
    case "note":
      return [];
  }
}

/** The arguments as an object; an empty one stands in for text that is no JSON object (I-98). */
function callArguments(call: CallState): Json {
  const parsed = parseArguments(call.args);
  return parsed.ok ? parsed.args : {};
}

function resultPart(call: CallState): ToolResultPart[] {
  if (!call.result) return [];
  const { text, isError, images } = call.result;
  return [
    {
      type: "tool-result",
      toolCallId: call.callId,
      toolName: call.name,
      result: text,
      ...(isError ? { isError } : {}),
      ...(images.length > 0 ? { images } : {}),
    },
  ];
}
