import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3Message } from "@ai-sdk/provider";
import type { AssistantPart } from "../../run/history.js";
import { type CallSettings, type OpenedModel, type ProviderAdapter, providerField } from "./adapter.js";

type V3Assistant = Extract<LanguageModelV3Message, { role: "assistant" }>;

/** The namespace of this adapter in provider data. */
export const compatibleNamespace = "compatible";

/** Any server with OpenAI's chat completions: vendors, gateways and local ones. */
export const openaiCompatibleAdapter: ProviderAdapter = {
  needsKey: false,
  rules: {
    mergeSystem: true,
    imagesAfterResults: true,
    images: { maxBytes: 10 * 1024 * 1024 },
    replayable: keepReasoningOfCalls,
    finishAssistant,
  },
  open(settings: CallSettings): OpenedModel {
    const { entry, effort, quirks } = settings;
    const { provider, info, config } = entry;
    const compatible = createOpenAICompatible({
      name: compatibleNamespace,
      baseURL: (provider.baseURL ?? "").replace(/\/+$/, ""),
      ...(provider.apiKey === undefined ? {} : { apiKey: provider.apiKey }),
      ...(provider.headers === undefined ? {} : { headers: provider.headers }),
      fetch: settings.fetch,
      includeUsage: !quirks.noUsageOption,
    });
    return {
      model: compatible.chatModel(info.model),
      ...(config.maxOutputTokens === undefined ? {} : { maxOutputTokens: config.maxOutputTokens }),
      providerOptions: {
        openaiCompatible: effort === undefined || quirks.noEffort ? {} : { reasoningEffort: effort },
      },
    };
  },
};

/** Reasoning goes back only with the calls it led to: that is where servers want it (I-110), elsewhere some refuse it. */
function keepReasoningOfCalls(content: readonly AssistantPart[]): readonly AssistantPart[] {
  if (content.some((part) => part.type === "tool-call")) return content;
  return content.filter((part) => part.type !== "reasoning");
}

function finishAssistant(message: V3Assistant, source: readonly AssistantPart[]): V3Assistant {
  const content = message.content.map((part) => {
    const signature = providerField(part.providerOptions, compatibleNamespace, "thoughtSignature");
    if (part.type !== "tool-call" || typeof signature !== "string") return part;
    return { ...part, providerOptions: { google: { thoughtSignature: signature } } };
  });
  const reasoning = source.filter((part) => part.type === "reasoning");
  const field = providerField(reasoning[0]?.provider?.data, compatibleNamespace, "field");
  if (field !== "reasoning") return { ...message, content };
  // The server named the field "reasoning": it gets it back under that name.
  return {
    ...message,
    content: content.filter((part) => part.type !== "reasoning"),
    providerOptions: { openaiCompatible: { reasoning: reasoning.map((part) => part.text).join("") } },
  };
}
