import type { ConfigFile } from "./schema.js";
import type { ConfiguredModels } from "./server-config.js";

/** Every secret of the configuration, for the redaction of logs and messages. */
export function collectSecrets(file: ConfigFile, models: ConfiguredModels, presetApiKey: string | undefined): string[] {
  const secrets = models.providers.flatMap(({ apiKey, headers, baseURL }) => [
    apiKey,
    ...Object.values(headers ?? {}),
    passwordOf(baseURL),
  ]);
  const all = [...secrets, presetApiKey, passwordOf(file.store.url)];
  return [...new Set(all.filter((secret): secret is string => secret !== undefined && secret !== ""))];
}

function passwordOf(url: string | undefined): string | undefined {
  const encoded = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:([^/?#@]+)@/i.exec(url ?? "")?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
