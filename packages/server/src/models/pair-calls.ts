import type { AssistantMessage, AssistantPart, HistoryMessage, ToolResultPart } from "../run/history.js";

type ToolCallPart = Extract<AssistantPart, { type: "tool-call" }>;

/** A history in which every call has exactly one result, right after the message it was made in. */
export type PairedMessage =
  | Exclude<HistoryMessage, { role: "tool" }>
  | { readonly role: "tool"; readonly results: readonly PairedResult[] };

/** A call and its result. */
export interface PairedResult {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart;
}

/** The result a call without one gets; the words never change, so prompts stay the same (I-31, I-123). */
export const missingResultText = "The tool call was interrupted before it returned a result.";

/**
 * Puts every result behind its call, in call order. Results without a call are dropped (I-32), calls without a
 * result get an error result (I-31). An id counts only within the messages up to the next answer, so ids that
 * providers use again are no danger (I-102).
 */
export function pairCalls(messages: readonly HistoryMessage[]): PairedMessage[] {
  const paired: PairedMessage[] = [];
  let at = 0;
  while (at < messages.length) {
    const message = messages[at] as HistoryMessage;
    at += 1;
    if (message.role === "tool") continue;
    paired.push(message);
    if (message.role !== "assistant") continue;
    const calls = message.content.filter((part) => part.type === "tool-call");
    if (calls.length === 0) continue;
    const end = nextAnswer(messages, at);
    paired.push({ role: "tool", results: pairOne(calls, resultsIn(messages.slice(at, end))) });
  }
  return paired;
}

function pairOne(calls: readonly ToolCallPart[], results: ToolResultPart[]): PairedResult[] {
  return calls.map((call) => {
    const found = results.findIndex((result) => result.toolCallId === call.toolCallId);
    const [result] = found < 0 ? [] : results.splice(found, 1);
    return { call, result: result ?? missingResult(call) };
  });
}

function missingResult(call: ToolCallPart): ToolResultPart {
  const { toolCallId, toolName } = call;
  return { type: "tool-result", toolCallId, toolName, result: missingResultText, isError: true };
}

function resultsIn(messages: readonly HistoryMessage[]): ToolResultPart[] {
  return messages.flatMap((message) => (message.role === "tool" ? [...message.content] : []));
}

function nextAnswer(messages: readonly HistoryMessage[], from: number): number {
  const next = messages.findIndex(
    (message, index): message is AssistantMessage => index >= from && message.role === "assistant",
  );
  return next < 0 ? messages.length : next;
}
