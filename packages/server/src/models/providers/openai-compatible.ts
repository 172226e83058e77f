import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3, LanguageModelV3Message } from "@ai-sdk/provider";
import type { AssistantPart } from "../../run/history.js";
import type { ModelEntry } from "../directory.js";
import type { VendorFetch } from "../transport.js";
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
    const { entry, effort, quirks, fetch, signal } = settings;
    const { config } = entry;
    fetches.set(signal, fetch);
    return {
      model: modelOf(entry, !quirks.noUsageOption),
      ...(config.maxOutputTokens === undefined ? {} : { maxOutputTokens: config.maxOutputTokens }),
      providerOptions: {
        openaiCompatible: effort === undefined || quirks.noEffort ? {} : { reasoningEffort: effort },
      },
    };
  },
};

/** The driver's models by entry and by whether usage is asked for. */
const models = new WeakMap<ModelEntry, Map<boolean, LanguageModelV3>>();
/** The fetch of each call under way: the driver hands it the signal of its call. */
const fetches = new WeakMap<AbortSignal, VendorFetch>();

/** Each of the driver's models builds schemas of its own, 80 KB and milliseconds: one serves all calls of an entry. */
function modelOf(entry: ModelEntry, includeUsage: boolean): LanguageModelV3 {
  const made = models.get(entry) ?? new Map<boolean, LanguageModelV3>();
  models.set(entry, made);
  const model = made.get(includeUsage) ?? makeModel(entry, includeUsage);
  made.set(includeUsage, model);
  return model;
}

function makeModel({ provider, info }: ModelEntry, includeUsage: boolean): LanguageModelV3 {
  return createOpenAICompatible({
    name: compatibleNamespace,
    baseURL: (provider.baseURL ?? "").replace(/\/+$/, ""),
    ...(provider.apiKey === undefined ? {} : { apiKey: provider.apiKey }),
    ...(provider.headers === undefined ? {} : { headers: provider.headers }),
    fetch: (input, init) => {
      const fetch = init?.signal ? fetches.get(init.signal) : undefined;
      if (!fetch) throw new TypeError("A call of the driver came without its signal.");
      return fetch(input, init);
    },
    includeUsage,
  }).chatModel(info.model);
}

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
