import { readFileSync } from "node:fs";
import type { ModelConfig, ProviderConfig, ProviderType } from "./port.js";

/** What the bundled catalogue knows about a model. */
export interface CatalogEntry {
  readonly name: string;
  /** Tokens of prompt and answer together. */
  readonly context: number;
  readonly output: number;
  readonly vision?: boolean;
  readonly reasoning?: boolean;
  /** Effort values the model takes, in rising order; absent when it takes none. */
  readonly efforts?: readonly Effort[];
  /** Anthropic models that think adaptively and take an effort instead of a budget. */
  readonly adaptive?: boolean;
  /** US dollars per million tokens: input, output, cache read, cache write. */
  readonly price: readonly [number, number, number, number];
}

/** How hard a model thinks, in rising order from "none". */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

interface Catalog {
  readonly sections: Readonly<Record<string, Readonly<Record<string, CatalogEntry>>>>;
}

let loaded: Catalog | undefined;

// Read on first use rather than imported: Node 20 warns about JSON imports, and the data needs no types.
function catalog(): Catalog {
  loaded ??= JSON.parse(readFileSync(new URL("./catalog.json", import.meta.url), "utf8")) as Catalog;
  return loaded;
}

/** Hosts of openai-compatible services whose models the catalogue lists. */
const sectionsByHost: readonly (readonly [suffix: string, section: string])[] = [
  ["deepseek.com", "deepseek"],
  ["mistral.ai", "mistral"],
  ["groq.com", "groq"],
  ["cerebras.ai", "cerebras"],
  ["moonshot.ai", "moonshot"],
  ["moonshot.cn", "moonshot"],
  ["z.ai", "zai"],
  ["x.ai", "xai"],
  ["aliyuncs.com", "qwen"],
  ["qwencloudapi.com", "qwen"],
  ["openrouter.ai", "openrouter"],
  ["openai.com", "openai"],
];

/** The catalogue section of an openai-compatible base URL; undefined for hosts we do not know. */
export function sectionForHost(baseURL: string | undefined): string | undefined {
  const host = baseURL !== undefined && URL.canParse(baseURL) ? new URL(baseURL).hostname : "";
  return sectionsByHost.find(([suffix]) => host === suffix || host.endsWith(`.${suffix}`))?.[1];
}

/**
 * Finds a model: exact id first, then the longest listed id that is a prefix at a word boundary, so that
 * dated variants are found ("gpt-5-2025-08-07"). Behind an unknown openai-compatible host only exact ids of
 * the big vendors count, because a local server's context window is its own.
 */
export function lookUpModel(type: ProviderType, model: string, baseURL?: string): CatalogEntry | undefined {
  const { sections } = catalog();
  const section = type === "openai-compatible" ? sectionForHost(baseURL) : type;
  if (section !== undefined) return inSection(sections[section] ?? {}, model);
  const bare = model.slice(model.lastIndexOf("/") + 1);
  for (const name of ["openai", "anthropic", "google", "deepseek"]) {
    const entry = own(sections[name] ?? {}, bare);
    if (entry) return entry;
  }
  return undefined;
}

function inSection(section: Readonly<Record<string, CatalogEntry>>, model: string): CatalogEntry | undefined {
  const exact = own(section, model);
  if (exact) return exact;
  let best: string | undefined;
  for (const id of Object.keys(section)) {
    if (model.startsWith(id) && /[-:@]/.test(model.charAt(id.length)) && id.length > (best?.length ?? 0)) best = id;
  }
  return best === undefined ? undefined : section[best];
}

function own(section: Readonly<Record<string, CatalogEntry>>, id: string): CatalogEntry | undefined {
  return Object.hasOwn(section, id) ? section[id] : undefined;
}

/** Tokens assumed for a model that neither the config nor the catalogue knows. */
export function assumedContextWindow(type: ProviderConfig["type"]): number {
  return type === "openai-compatible" ? 32_768 : 128_000;
}

const defaults: Readonly<Record<string, readonly string[]>> = {
  openai: ["gpt-6.2-sol", "gpt-6.1-terra", "gpt-6-luna"],
  anthropic: ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"],
  google: ["gemini-pro-latest", "gemini-flash-latest"],
};

/**
 * The models to offer for a provider that was configured without a list, best default first.
 * The provider's name in the result is its type. Empty for types that have no common models.
 */
export function defaultModelsFor(type: string): ModelConfig[] {
  return (defaults[type] ?? []).map((id) => ({ id, provider: type }));
}
