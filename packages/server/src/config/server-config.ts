import type { CoreLimits } from "../run/limits.js";
import type { ConfigFile } from "./schema.js";

/** The protocols a provider can speak. */
export type ConfiguredProviderType = "openai" | "anthropic" | "google" | "openai-compatible";

/** A provider as the models room takes it. */
export interface ConfiguredProvider {
  name: string;
  type: ConfiguredProviderType;
  apiKey?: string;
  baseURL?: string;
  headers?: Record<string, string>;
  timeouts?: { connectMs?: number; firstByteMs?: number; idleMs?: number; totalMs?: number };
}

/** A model as the models room takes it. */
export interface ConfiguredModel {
  id: string;
  provider: string;
  model?: string;
  displayName?: string;
  description?: string;
  contextWindow?: number;
  maxOutputTokens?: number;
  vision?: boolean;
  reasoning?: { tags?: "think"; implicitOpen?: boolean };
}

/** What the model gateway is built from. */
export interface ConfiguredModels {
  providers: ConfiguredProvider[];
  models: ConfiguredModel[];
  aliases: Record<string, string>;
  fallbacks: Record<string, string[]>;
}

/** How one class of clients is treated. */
export interface ClientRule {
  readonly name: string;
  /** Lower-case header names and the patterns their values must match, `*` standing for anything. */
  readonly headers: Readonly<Record<string, string>>;
  readonly onDisconnect: "cancel" | "continue";
  readonly disconnectGraceMs: number;
  readonly contentType: "connect" | "event-stream";
}

/** Bounds of runs, the core's and those a run keeps; times in milliseconds. */
export interface ConfiguredLimits extends CoreLimits {
  readonly disconnectGraceMs: number;
  readonly runTotalMs: number;
  readonly maxPasses: number;
  readonly stopGraceMs: number;
}

/** Everything the server is composed from. */
export interface ServerConfig {
  readonly server: Omit<ConfigFile["server"], "tls"> & {
    /** Absolute paths of PEM files. */
    readonly tls?: { readonly cert: string; readonly key: string };
  };
  readonly store: ConfigFile["store"];
  /** Absolute path. */
  readonly dataDir: string;
  readonly models: ConfiguredModels;
  /** Model ids or aliases. */
  readonly slots: ConfigFile["slots"];
  /** In the order they are tried; a client that none matches has the defaults of `limits`. */
  readonly clients: readonly ClientRule[];
  readonly limits: ConfiguredLimits;
  readonly logLevel: ConfigFile["logLevel"];
  /** The first API key, when the environment sets it. */
  readonly presetApiKey?: string;
  /** Every secret in here, to be kept out of logs and messages. */
  readonly secrets: readonly string[];
  /** Absolute path of the file that was read; undefined when there is none. */
  readonly file?: string;
  /** Absolute paths of the file and of those it refers to: a change to one is a change of the configuration. */
  readonly watchedFiles: readonly string[];
}
