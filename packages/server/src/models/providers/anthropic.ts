import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV3Prompt, SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { AssistantPart } from "../../run/history.js";
import type { Effort } from "../catalog.js";
import { type CallSettings, type OpenedModel, type ProviderAdapter, providerField } from "./adapter.js";

const standardBaseURL = "https://api.anthropic.com/v1";

/** Thinking tokens of models that take a budget instead of an effort. */
const budgets: Partial<Record<Effort, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 24_576,
  xhigh: 32_000,
  max: 48_000,
};

/** More is rarely useful, and the limit counts against the context window. */
const outputCap = 64_000;
const unknownOutput = 8_192;

/** Anthropic's Messages API, with cache marks and thinking blocks replayed byte for byte (I-111). */
export const anthropicAdapter: ProviderAdapter = {
  needsKey: true,
  rules: {
    images: { maxBytes: Math.floor((5 * 1024 * 1024 * 3) / 4) },
    replayable: dropUnsignedReasoning,
  },
  open(settings: CallSettings): OpenedModel {
    const { entry } = settings;
    const { provider, info } = entry;
    const anthropic = createAnthropic({
      apiKey: provider.apiKey ?? "none",
      baseURL: provider.baseURL ?? standardBaseURL,
      headers: provider.headers,
      fetch: settings.fetch,
    });
    const limit = Math.min(info.maxOutputTokens ?? unknownOutput, entry.config.maxOutputTokens ?? outputCap);
    const thinking = thinkingOptions(settings, limit);
    return {
      model: anthropic.messages(info.model),
      // The driver adds the thinking budget to the limit again.
      maxOutputTokens: limit - (thinking.budgetTokens ?? 0),
      outputLimit: limit,
      providerOptions: { anthropic: thinking.options },
      prompt: withCacheMarks(settings.prompt),
    };
  },
};

interface Thinking {
  readonly options: SharedV3ProviderOptions[string];
  readonly budgetTokens?: number;
}

function thinkingOptions({ entry, effort, quirks, prompt }: CallSettings, limit: number): Thinking {
  if (!entry.known?.reasoning || quirks.noEffort) return { options: {} };
  if (entry.known.adaptive) {
    if (effort === "none") return { options: { thinking: { type: "disabled" } } };
    return {
      options: { thinking: { type: "adaptive", display: "summarized" }, ...(effort === undefined ? {} : { effort }) },
    };
  }
  const budgetTokens = effort === undefined ? undefined : Math.min(budgets[effort] ?? 0, limit - 4_096);
  if (budgetTokens === undefined || budgetTokens < 1_024 || !mayThink(prompt)) return { options: {} };
  return { options: { thinking: { type: "enabled", budgetTokens } }, budgetTokens };
}

/** With a budget the API wants the answer under way to begin with a thinking block; another model's answer has none. */
function mayThink(prompt: LanguageModelV3Prompt): boolean {
  if (prompt.at(-1)?.role !== "tool") return true;
  const answer = prompt.findLast((message) => message.role === "assistant");
  return answer?.role === "assistant" && answer.content[0]?.type === "reasoning";
}

/** Marks the end of the system prompt and the last two turns: at stable places, and few (I-123). */
function withCacheMarks(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const lastSystem = prompt.findLastIndex((message) => message.role === "system");
  const turns = prompt.flatMap((message, index) => (message.role === "user" || message.role === "tool" ? [index] : []));
  const marked = new Set([lastSystem, ...turns.slice(-2)]);
  return prompt.map((message, index) =>
    marked.has(index)
      ? { ...message, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
      : message,
  );
}

function dropUnsignedReasoning(content: readonly AssistantPart[]): readonly AssistantPart[] {
  const isSigned = (part: AssistantPart) =>
    typeof providerField(part.provider?.data, "anthropic", "signature") === "string" ||
    typeof providerField(part.provider?.data, "anthropic", "redactedData") === "string";
  const kept = content.filter((part) => part.type !== "reasoning" || isSigned(part));
  // An answer of nothing but thinking is not a valid message.
  return kept.every((part) => part.type === "reasoning") ? [] : kept;
}
