import type { ConfiguredProvider } from "./server-config.js";

/** The environment as it is handed in. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface WellKnownProvider {
  readonly name: string;
  readonly type: ConfiguredProvider["type"];
  /** The first that is set counts. */
  readonly keys: readonly string[];
  readonly baseURLs: readonly string[];
  readonly defaultBaseURL?: string;
  /** Appended to a base URL without a path, as the vendor's own tools take it. */
  readonly apiPath?: string;
}

/** Providers that an environment variable is enough for, in the order their models are listed. */
export const wellKnownProviders: readonly WellKnownProvider[] = [
  { name: "openai", type: "openai", keys: ["OPENAI_API_KEY"], baseURLs: ["OPENAI_BASE_URL"], apiPath: "/v1" },
  {
    name: "anthropic",
    type: "anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    baseURLs: ["ANTHROPIC_BASE_URL"],
    apiPath: "/v1",
  },
  {
    name: "google",
    type: "google",
    keys: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
    baseURLs: ["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_BASE_URL"],
    apiPath: "/v1beta",
  },
  compatible("openrouter", "OPENROUTER", "https://openrouter.ai/api/v1"),
  compatible("deepseek", "DEEPSEEK", "https://api.deepseek.com/v1"),
  compatible("mistral", "MISTRAL", "https://api.mistral.ai/v1"),
  compatible("groq", "GROQ", "https://api.groq.com/openai/v1"),
  compatible("xai", "XAI", "https://api.x.ai/v1"),
];

/** The variables that name a local Ollama server. */
export const ollamaVariables = ["OLLAMA_BASE_URL", "OLLAMA_HOST"] as const;

/** The providers that the environment has a key (or, for Ollama, an address) for. */
export function providersFromEnvironment(environment: Environment): ConfiguredProvider[] {
  const found = wellKnownProviders.flatMap((known): ConfiguredProvider[] => {
    const apiKey = firstSet(environment, known.keys);
    if (apiKey === undefined) return [];
    const set = firstSet(environment, known.baseURLs);
    const baseURL = set === undefined ? known.defaultBaseURL : withPath(set, known.apiPath ?? "/v1");
    return [{ name: known.name, type: known.type, apiKey, ...(baseURL === undefined ? {} : { baseURL }) }];
  });
  const ollama = firstSet(environment, ollamaVariables);
  if (ollama !== undefined) found.push({ name: "ollama", type: "openai-compatible", baseURL: ollamaURL(ollama) });
  return found;
}

function compatible(name: string, prefix: string, defaultBaseURL: string): WellKnownProvider {
  const variables = { keys: [`${prefix}_API_KEY`], baseURLs: [`${prefix}_BASE_URL`] };
  return { name, type: "openai-compatible", ...variables, defaultBaseURL };
}

function firstSet(environment: Environment, names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]?.trim()).find((value) => value !== undefined && value !== "");
}

function withPath(baseURL: string, path: string): string {
  return /^https?:\/\/[^/]+\/?$/i.test(baseURL) ? baseURL.replace(/\/$/, "") + path : baseURL.replace(/\/+$/, "");
}

/** `OLLAMA_HOST` is what the server binds to: often without scheme or port, and with an address that nobody can call. */
function ollamaURL(host: string): string {
  const [, scheme = "http://", address = "", rest = ""] = /^(https?:\/\/)?([^/]*)(.*)$/i.exec(host) ?? [];
  const callable = address.replace(/^(0\.0\.0\.0|\[::\])(?=:|$)/, "127.0.0.1");
  const hasPort = /:\d+$/.test(callable) || /^https/i.test(scheme);
  return withPath(`${scheme}${callable}${hasPort ? "" : ":11434"}${rest}`, "/v1");
}
