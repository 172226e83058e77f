import type { HistoryMessage, ProviderData } from "../run/history.js";
import type { Json } from "../run/ids.js";
import type { Usage } from "../run/usage.js";

/** One value a model parameter can take. */
export interface ModelParameterValue {
  /** What the client sends back, for example "high". */
  value: string;
  displayName: string;
}

/** One knob of a model that a client may offer, for example the thinking effort. */
export interface ModelParameter {
  id: string;
  displayName: string;
  values: ModelParameterValue[];
  /** The value the model uses when the client sends none. */
  default?: string;
}

/** The protocols a configured provider can speak. */
export type ProviderType = "openai" | "anthropic" | "google" | "openai-compatible";

/** A model as the rest of the server and the clients see it. */
export interface ModelInfo {
  /** The id clients name; unique in a gateway. */
  id: string;
  displayName: string;
  description?: string;
  /** Name of the provider in the config, "demo" for the demo model. */
  provider: string;
  providerType: ProviderType | "demo";
  /** The id the provider knows. */
  model: string;
  /** Tokens of prompt and answer together. */
  contextWindow: number;
  maxOutputTokens?: number;
  /** Exact alias names and patterns such as "composer-*" that lead here. */
  aliases: string[];
  /** Only the parameters and values this model really takes. */
  parameters: ModelParameter[];
  /** Whether images may be sent to it. */
  vision: boolean;
}

/** A tool as offered to the model. */
export interface ToolDescriptor {
  /** Our own name; the gateway makes it safe for the provider and maps it back (I-104). */
  name: string;
  description: string;
  /** A JSON schema of type object. */
  parameters: Json;
}

/** One pass: everything a provider needs to answer once. */
export interface ModelRequest {
  model: ModelInfo;
  messages: readonly HistoryMessage[];
  tools: readonly ToolDescriptor[];
  /** As the client sent them, for example `{ effort: "high" }`; unknown ids and values are ignored. */
  parameters: Readonly<Record<string, string>>;
  /** The conversation id, for prompt caching. */
  cacheKey: string;
  /** Bytes of an image named in the history; undefined when it is gone. */
  image(blobId: string): Promise<Uint8Array | undefined>;
}

/** What a pass yields, in order; the last event is `ended` unless the stream throws. */
export type ModelEvent =
  | { kind: "text-delta"; text: string }
  /** Closes the text block that the deltas since the last end belong to. */
  | { kind: "text-ended"; provider?: ProviderData }
  | { kind: "reasoning-delta"; text: string }
  /** Closes a reasoning block; also sent for encrypted reasoning without any delta. */
  | { kind: "reasoning-ended"; provider?: ProviderData }
  /** `index` counts the calls of this pass from 0 and is the key of the events below. */
  | { kind: "call-started"; index: number; name: string }
  | { kind: "call-delta"; index: number; argsDelta: string }
  | {
      kind: "call";
      index: number;
      /** Our own tool name, or the model's words where it named no offered tool. */
      name: string;
      /** Raw JSON text as the model wrote it; "{}" where it wrote nothing (I-97). */
      args: string;
      provider?: ProviderData;
      /** False: cut off by the output limit; must never be executed (I-99). */
      complete: boolean;
    }
  /** A retry or fallback before the first output is waiting `delayMs`. */
  | { kind: "waiting"; reason: string; delayMs: number }
  | { kind: "ended"; reason: ModelEndReason; usage: Usage };

/** Why a pass ended; calls that were sent make it "tool-calls" whatever the provider said (I-100). */
export type ModelEndReason = "stop" | "tool-calls" | "length" | "content-filter" | "other";

/** The one door to all models. */
export interface ModelGateway {
  /** All models in the order clients should list them; the demo model is last. */
  models(): readonly ModelInfo[];
  /** By id, alias, alias pattern; "", "auto" and "default" give the default model. */
  resolve(id: string): ModelInfo | undefined;
  /**
   * Runs one pass. Ends by an `ended` event, or throws FaultError with a model/* code.
   * Aborting the signal closes the vendor's connection at once and throws the abort reason.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** Time limits of a provider in milliseconds (I-124); 0 turns a limit off. */
export interface ProviderTimeouts {
  /** Default 10 s. */
  connectMs?: number;
  /** From the request to the response's headers; default 10 min. */
  firstByteMs?: number;
  /** Between two reads of the body, keepalives included; default 5 min. */
  idleMs?: number;
  /** For one whole attempt; default none. */
  totalMs?: number;
}

/** An account at a model provider. */
export interface ProviderConfig {
  /** Unique name, the key under `providers` in the config file. */
  name: string;
  type: ProviderType;
  apiKey?: string;
  baseURL?: string;
  /** Sent with every request, after our own. */
  headers?: Record<string, string>;
  timeouts?: ProviderTimeouts;
}

/** A model to offer; what is left out comes from the catalogue. */
export interface ModelConfig {
  id: string;
  /** Name of a provider in the same config. */
  provider: string;
  /** The id the provider knows; defaults to `id`. */
  model?: string;
  displayName?: string;
  description?: string;
  contextWindow?: number;
  maxOutputTokens?: number;
  vision?: boolean;
  /** Opt-in reading of `<think>` tags at the start of an answer (I-89). */
  reasoning?: { tags?: "think"; implicitOpen?: boolean };
}

/** Everything the gateway is built from. */
export interface ModelsConfig {
  providers: ProviderConfig[];
  models: ModelConfig[];
  /** Alias or pattern with "*" to model id; the alias "default" names the default model. */
  aliases: Record<string, string>;
  /** Model id to the ids tried after it, in order, before any output. */
  fallbacks?: Record<string, string[]>;
}
