import type { ConfigProblem } from "./config-error.js";
import type { KeyPath } from "./parse.js";
import type { ConfigFile } from "./schema.js";
import type { ConfiguredModels } from "./server-config.js";
import { didYouMean } from "./suggest.js";

/** Makes a problem at a path of the file. */
export type ProblemAt = (path: KeyPath, message: string, key?: string) => ConfigProblem;

/** Names that the server gives to its own demo provider and model. */
const demo = "demo";

/** Checks what the schema cannot see: that every name names something, once. */
export function crossCheck(file: ConfigFile, models: ConfiguredModels, problemAt: ProblemAt): ConfigProblem[] {
  const providerNames = models.providers.map((provider) => provider.name);
  const modelIds = new Set([demo, ...models.models.map((model) => model.id)]);
  const aliasNames = Object.keys(file.aliases);

  const unknownModel = (path: KeyPath, id: string, alsoAliases: boolean): ConfigProblem[] => {
    if (modelIds.has(id) || (alsoAliases && aliasNames.includes(id))) return [];
    return [problemAt(path, `there is no model "${id}"${didYouMean(id, modelIds)}`)];
  };

  return [
    ...Object.entries(file.providers ?? {}).flatMap(([name, provider]) => {
      if (name === demo) return [problemAt(["providers"], "is the name of the built-in demo; choose another", name)];
      if (provider.type === "openai-compatible" && provider.baseURL === undefined) {
        return [problemAt(["providers", name], "needs a baseURL, since its type is openai-compatible")];
      }
      return [];
    }),
    ...(file.models ?? []).flatMap((model, index, all) => {
      const problems: ConfigProblem[] = [];
      if (!providerNames.includes(model.provider)) {
        const words = `there is no provider "${model.provider}"${didYouMean(model.provider, providerNames)}`;
        problems.push(problemAt(["models", index, "provider"], words));
      }
      const first = all.findIndex(({ id }) => id === model.id);
      if (first < index) problems.push(problemAt(["models", index, "id"], `is the id of models[${first}] already`));
      if (model.id === demo) problems.push(problemAt(["models", index, "id"], "is the id of the built-in demo model"));
      return problems;
    }),
    ...Object.entries(file.aliases).flatMap(([alias, id]) => {
      if (modelIds.has(alias))
        return [problemAt(["aliases"], "is the id of a model; an alias must be another name", alias)];
      return unknownModel(["aliases", alias], id, false);
    }),
    ...Object.entries(file.slots).flatMap(([slot, id]) =>
      id === undefined ? [] : unknownModel(["slots", slot], id, true),
    ),
    ...Object.entries(file.fallbacks).flatMap(([id, others]) => [
      ...(modelIds.has(id)
        ? []
        : [problemAt(["fallbacks"], `there is no model "${id}"${didYouMean(id, modelIds)}`, id)]),
      ...others.flatMap((other, index) => unknownModel(["fallbacks", id, index], other, false)),
    ]),
  ];
}
