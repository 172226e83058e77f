import type { LanguageModelV3, LanguageModelV3Prompt, SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { Effort } from "../catalog.js";
import type { PromptRules } from "../convert-prompt.js";
import type { ModelEntry } from "../directory.js";
import type { ModelRequest } from "../port.js";
import type { Quirks } from "../quirks.js";
import type { VendorFetch } from "../transport.js";

/** Everything that decides one call of a driver. */
export interface CallSettings {
  readonly entry: ModelEntry;
  readonly request: ModelRequest;
  readonly prompt: LanguageModelV3Prompt;
  readonly fetch: VendorFetch;
  /** The signal that `doStream` of this call will be given; no other call has it. */
  readonly signal: AbortSignal;
  readonly effort: Effort | undefined;
  readonly quirks: Quirks;
}

/** A driver's model, ready for one `doStream`. */
export interface OpenedModel {
  readonly model: LanguageModelV3;
  readonly providerOptions: SharedV3ProviderOptions;
  /** Sent as the output limit; absent: the provider's own. */
  readonly maxOutputTokens?: number;
  /** Where the answer is cut, when that differs from `maxOutputTokens` because thinking counts too. */
  readonly outputLimit?: number;
  /** Replaces the prompt, for marks only this provider knows. */
  readonly prompt?: LanguageModelV3Prompt;
}

/** One kind of provider. Adapters keep no state and make no request before `doStream`. */
export interface ProviderAdapter {
  readonly rules: PromptRules;
  /** More tools than this are refused; the last ones are left out. */
  readonly maxTools?: number;
  /** False is sent with each tool, where leaving it out means true. */
  readonly strictTools?: false;
  /** True: a provider without an API key cannot work at its standard address. */
  readonly needsKey: boolean;
  open(settings: CallSettings): OpenedModel;
}

/** The value of one namespace of provider data. */
export function providerField(data: unknown, namespace: string, field: string): unknown {
  const space = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[namespace] : undefined;
  return typeof space === "object" && space !== null ? (space as Record<string, unknown>)[field] : undefined;
}
