import { createHash } from "node:crypto";
import { createOpenAI } from "@ai-sdk/openai";
import type { AssistantPart } from "../../run/history.js";
import { type CallSettings, type OpenedModel, type ProviderAdapter, providerField } from "./adapter.js";

const standardBaseURL = "https://api.openai.com/v1";

/** OpenAI's Responses API: nothing is stored there, encrypted reasoning comes back to us and is replayed (I-113). */
export const openaiAdapter: ProviderAdapter = {
  needsKey: true,
  maxTools: 128,
  strictTools: false,
  rules: {
    images: { maxBytes: 20 * 1024 * 1024 },
    replayable: dropUnfollowedReasoning,
  },
  open(settings: CallSettings): OpenedModel {
    const { entry, request, effort, quirks } = settings;
    const { provider, known, info } = entry;
    const openai = createOpenAI({
      apiKey: provider.apiKey ?? "none",
      baseURL: provider.baseURL ?? standardBaseURL,
      headers: provider.headers,
      fetch: settings.fetch,
    });
    const thinks = known?.reasoning === true && effort !== "none";
    return {
      model: openai.responses(info.model),
      ...(entry.config.maxOutputTokens === undefined ? {} : { maxOutputTokens: entry.config.maxOutputTokens }),
      providerOptions: {
        openai: {
          store: false,
          ...(known?.reasoning ? { forceReasoning: true } : {}),
          ...(effort === undefined || quirks.noEffort ? {} : { reasoningEffort: effort }),
          ...(thinks && !quirks.noSummary ? { reasoningSummary: "auto" } : {}),
          ...(quirks.noCacheKey ? {} : { promptCacheKey: cacheKey(request.cacheKey) }),
        },
      },
    };
  },
};

/** The API takes at most 64 characters. */
function cacheKey(key: string): string {
  return key.length <= 64 ? key : createHash("sha256").update(key).digest("hex");
}

/**
 * A reasoning item is valid only with its encrypted content and directly before the item it led to; either goes
 * with the other or not at all.
 */
function dropUnfollowedReasoning(content: readonly AssistantPart[]): readonly AssistantPart[] {
  const item = (part: AssistantPart) => providerField(part.provider?.data, "openai", "itemId");
  const encrypted = new Set(
    content
      .filter((part) => typeof providerField(part.provider?.data, "openai", "reasoningEncryptedContent") === "string")
      .map(item),
  );
  return content.filter((part, index) => {
    if (part.type !== "reasoning") return true;
    const follower = content.slice(index + 1).find((next) => next.type !== "reasoning");
    return encrypted.has(item(part)) && follower?.provider !== undefined;
  });
}
