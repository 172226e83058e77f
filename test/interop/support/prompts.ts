import type { CapturedRequest, JsonObject } from "../../support/vendors/script.js";
import { objects } from "../../support/vendors/script.js";

/** A message of a captured chat completion request. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
  readonly tool_call_id?: string;
}

/** The messages of a captured chat completion request. */
export function messagesOf(request: CapturedRequest | undefined): ChatMessage[] {
  return objects(request?.body["messages"]) as unknown as ChatMessage[];
}

/** The names of the tools a captured chat completion request offers. */
export function toolNamesOf(request: CapturedRequest | undefined): string[] {
  return objects(request?.body["tools"]).map((tool) => String((tool["function"] as JsonObject)["name"]));
}

/** The text of a message, whatever its form. */
export function textOf(message: ChatMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return objects(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

/** The results of tools in a captured chat completion request, in order. */
export function toolResultsOf(request: CapturedRequest | undefined): string[] {
  return messagesOf(request)
    .filter(({ role }) => role === "tool")
    .map(textOf);
}
