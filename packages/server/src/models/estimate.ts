import type { HistoryMessage } from "../run/history.js";
import type { Usage } from "../run/usage.js";
import type { ModelRequest } from "./port.js";

const charactersPerToken = 4;
const tokensPerImage = 1_000;

/** A rough count of the prompt's tokens, for providers that report none (I-88). */
export function estimatePromptTokens(request: Pick<ModelRequest, "messages" | "tools">): number {
  let characters = request.tools.length === 0 ? 0 : JSON.stringify(request.tools).length;
  let images = 0;
  for (const message of request.messages) {
    characters += charactersOf(message);
    images += imagesOf(message);
  }
  return Math.ceil(characters / charactersPerToken) + images * tokensPerImage;
}

/** A rough count of the tokens of an answer of this many characters. */
export function estimateOutputTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

/** The usage to report where the provider reported none; marked as estimated. */
export function estimateUsage(request: Pick<ModelRequest, "messages" | "tools">, outputCharacters: number): Usage {
  return {
    inputTokens: estimatePromptTokens(request),
    outputTokens: estimateOutputTokens(outputCharacters),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    estimated: true,
  };
}

function charactersOf(message: HistoryMessage): number {
  if (message.role === "system") return message.content.length;
  let characters = 0;
  for (const part of message.content) {
    if (part.type === "text" || part.type === "reasoning") characters += part.text.length;
    else if (part.type === "tool-call") characters += JSON.stringify(part.args).length;
    else if (part.type === "tool-result") characters += part.result.length;
  }
  return characters;
}

function imagesOf(message: HistoryMessage): number {
  if (message.role === "user") return message.content.filter((part) => part.type === "image").length;
  if (message.role === "tool") return message.content.reduce((count, part) => count + (part.images?.length ?? 0), 0);
  return 0;
}
