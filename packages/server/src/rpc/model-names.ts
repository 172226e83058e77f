import type { ListedModel, ModelList } from "./ports.js";

/** Names under which every client may ask for the default model. */
const defaultNames = ["auto", "default"] as const;

/**
 * The other names a client may use for a model. Patterns are left out: clients compare names, they do not match them.
 * The default model is also listed as `auto` and `default`: a client refuses what it has not seen listed.
 */
export function exactAliases(model: ListedModel, models: ModelList): string[] {
  const ids = new Set(models.models().map(({ id }) => id));
  const forDefault = models.resolve("default")?.id === model.id ? defaultNames : [];
  const exact = model.aliases.filter((alias) => !alias.includes("*"));
  const others = exact.filter((alias) => !defaultNames.some((name) => name === alias));
  return [...forDefault, ...others].filter((alias) => !ids.has(alias));
}
