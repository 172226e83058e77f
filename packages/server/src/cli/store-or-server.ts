import type { ServerConfig } from "../config/server-config.js";
import { StoreOpenError } from "../store/errors.js";
import { openStore } from "../store/open.js";
import type { Store } from "../store/port.js";
import { CliError, type CommonOptions, configOf, type Terminal } from "./terminal.js";

/** Asks the admin API of the running server. Rejects with CliError, in words for the user. */
export type AskServer = (method: "GET" | "POST", path: string, body?: object) => Promise<unknown>;

/**
 * Does something with the data folder: in the store itself, or through the server that is using it, which takes an
 * API key. Rejects with StoreOpenError, ConfigError or CliError.
 */
export async function withStoreOrServer<Result>(
  terminal: Terminal,
  options: CommonOptions,
  work: {
    readonly store: (store: Store) => Promise<Result>;
    readonly server: (ask: AskServer) => Promise<Result>;
  },
): Promise<Result> {
  const config = await configOf(terminal, options);
  let store: Store;
  try {
    store = await openStore({ url: config.store.url, dataDir: config.dataDir });
  } catch (error) {
    if (!(error instanceof StoreOpenError) || error.code !== "in-use") throw error;
    return work.server(askServer(config, options.apiKey ?? config.presetApiKey));
  }
  try {
    return await work.store(store);
  } finally {
    await store.close();
  }
}

/** Where the server of a configuration is reached from this machine. */
export function serverAddress({ host, port, tls }: ServerConfig["server"]): string {
  const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${tls ? "https" : "http"}://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

function askServer({ server }: ServerConfig, apiKey: string | undefined): AskServer {
  if (apiKey === undefined) {
    throw new CliError("a running server has the data folder; give one of its keys with --api-key, or stop it first");
  }
  const base = serverAddress(server);
  return async (method, path, body) => {
    const response = await fetch(base + path, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(method === "POST" ? { "content-type": "application/json" } : {}),
      },
      body: body && JSON.stringify(body),
    }).catch((cause: unknown) => {
      throw new CliError(`a running server has the data folder, but does not answer at ${base}; stop it first`, {
        cause,
      });
    });
    const answer = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
    if (!response.ok) throw new CliError(answer.error?.message ?? `the server answered HTTP ${response.status}`);
    return answer;
  };
}
