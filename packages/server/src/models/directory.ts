import { assumedContextWindow, type CatalogEntry, lookUpModel } from "./catalog.js";
import { effortParameters } from "./effort.js";
import type { ModelConfig, ModelInfo, ModelsConfig, ProviderConfig } from "./port.js";

/** A configured model with everything needed to call it. */
export interface ModelEntry {
  readonly info: ModelInfo;
  readonly config: ModelConfig;
  readonly provider: ProviderConfig;
  readonly known: CatalogEntry | undefined;
}

/** The models of a config: the list, and the way from a name to one of them. */
export interface ModelDirectory {
  readonly infos: readonly ModelInfo[];
  resolve(id: string): ModelInfo | undefined;
  /** Undefined for the built-in model and for models of another config. */
  entry(info: ModelInfo): ModelEntry | undefined;
}

/** Builds the directory; models of unknown providers are left out. The built-in model comes last. */
export function createModelDirectory(config: ModelsConfig, builtIn: ModelInfo): ModelDirectory {
  const providers = new Map(config.providers.map((provider) => [provider.name, provider]));
  const entries = new Map<string, ModelEntry>();
  for (const model of config.models) {
    const provider = providers.get(model.provider);
    if (provider && !entries.has(model.id)) entries.set(model.id, createEntry(model, provider, config.aliases));
  }
  const configured = [...entries.values()].map((entry) => entry.info);
  const infos = entries.has(builtIn.id) ? configured : [...configured, builtIn];
  const byId = new Map(infos.map((info) => [info.id, info]));
  const patterns = Object.entries(config.aliases).filter(([alias]) => alias.includes("*"));

  const followAlias = (alias: string): ModelInfo | undefined => {
    const target = Object.hasOwn(config.aliases, alias) ? config.aliases[alias] : undefined;
    return target === undefined ? undefined : byId.get(target);
  };
  const defaultModel = () => followAlias("default") ?? infos[0];

  return {
    infos,
    resolve(id) {
      const found = byId.get(id) ?? followAlias(id);
      if (found) return found;
      if (id === "" || id === "auto" || id === "default") return defaultModel();
      // The most precise pattern wins: the one with the most literal characters.
      const matching = patterns.filter(([pattern]) => matches(pattern, id)).sort((a, b) => b[0].length - a[0].length);
      const target = matching[0]?.[1];
      if (target === "default") return defaultModel();
      return target === undefined ? undefined : byId.get(target);
    },
    entry(info) {
      return entries.get(info.id);
    },
  };
}

function createEntry(config: ModelConfig, provider: ProviderConfig, aliases: Record<string, string>): ModelEntry {
  const model = config.model ?? config.id;
  const known = lookUpModel(provider.type, model, provider.baseURL);
  const info: ModelInfo = {
    id: config.id,
    displayName: config.displayName ?? known?.name ?? config.id,
    ...(config.description === undefined ? {} : { description: config.description }),
    provider: provider.name,
    providerType: provider.type,
    model,
    contextWindow: config.contextWindow ?? known?.context ?? assumedContextWindow(provider.type),
    ...maxOutput(config.maxOutputTokens ?? known?.output),
    aliases: Object.keys(aliases).filter((alias) => aliases[alias] === config.id),
    parameters: effortParameters(known?.efforts),
    vision: config.vision ?? known?.vision ?? provider.type !== "openai-compatible",
  };
  return { info, config, provider, known };
}

function maxOutput(maxOutputTokens: number | undefined): { maxOutputTokens?: number } {
  return maxOutputTokens === undefined ? {} : { maxOutputTokens };
}

function matches(pattern: string, id: string): boolean {
  const escaped = pattern.split("*").map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`).test(id);
}
