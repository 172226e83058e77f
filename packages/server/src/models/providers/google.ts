import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { AssistantPart } from "../../run/history.js";
import type { Effort } from "../catalog.js";
import { type CallSettings, type OpenedModel, type ProviderAdapter, providerField } from "./adapter.js";

const standardBaseURL = "https://generativelanguage.googleapis.com/v1beta";

/** Thinking tokens of Gemini 2.5, which takes a budget; later models take a level. */
const budgets: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 2_048,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

/** Google's Gemini API; the key goes into a header, never into the URL (I-143). */
export const googleAdapter: ProviderAdapter = {
  needsKey: true,
  maxTools: 512,
  rules: {
    images: { maxBytes: 14 * 1024 * 1024 },
    // Thoughts are not asked back, only the signatures on them, on texts and on calls (I-112).
    replayable: (content) =>
      content.filter(
        (part: AssistantPart) =>
          part.type !== "reasoning" ||
          typeof providerField(part.provider?.data, "google", "thoughtSignature") === "string",
      ),
  },
  open(settings: CallSettings): OpenedModel {
    const { entry, effort, quirks } = settings;
    const { provider, info, known, config } = entry;
    const google = createGoogleGenerativeAI({
      apiKey: provider.apiKey ?? "none",
      baseURL: provider.baseURL ?? standardBaseURL,
      headers: provider.headers,
      fetch: settings.fetch,
    });
    const thinkingConfig = known?.reasoning && !quirks.noEffort ? thinking(info.model, effort) : undefined;
    return {
      model: google.chat(info.model),
      ...(config.maxOutputTokens === undefined ? {} : { maxOutputTokens: config.maxOutputTokens }),
      providerOptions: { google: thinkingConfig === undefined ? {} : { thinkingConfig } },
    };
  },
};

function thinking(model: string, effort: Effort | undefined) {
  const includeThoughts = effort !== "none";
  if (effort === undefined) return { includeThoughts };
  if (/gemini-2\.5/.test(model)) return { includeThoughts, thinkingBudget: budgets[effort] };
  return { includeThoughts, thinkingLevel: effort === "none" ? "minimal" : effort };
}
