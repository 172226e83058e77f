import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentServer, describeFailure, ServerRefusal } from "@keyturn/client";
import { startServer } from "../../compose.js";
import { ConfigError } from "../../config/config-error.js";
import type { ServerConfig } from "../../config/server-config.js";
import { CliError, type CommonOptions, configOf, explain, type Terminal } from "../terminal.js";
import { exitCode, explainRefusal } from "./exit-codes.js";

/** Options that say which server to work with. */
export interface ServerOptions extends CommonOptions {
  readonly server?: string;
}

/** A server to work with; close it in the end. */
export interface OpenedServer {
  readonly server: AgentServer;
  /** Whether it was started for this command, and lives as long as it. */
  readonly isPrivate: boolean;
  readonly apiKey: string;
  readonly dataDir: string;
  close(): Promise<void>;
}

const probeMs = 1_000;

/**
 * The server that `--server` or `KEYTURN_SERVER` names, else the one at the configured address, else a private one in this process. Rejects
 * with CliError, in words for the user.
 */
export async function openServer(terminal: Terminal, options: ServerOptions): Promise<OpenedServer> {
  const config = await configOf(terminal, options).catch((cause: unknown) => {
    if (!(cause instanceof ConfigError)) throw cause;
    throw new CliError(explain(cause).join("\n"), { cause, exitCode: exitCode.usage });
  });
  const named = options.server ?? (terminal.environment.KEYTURN_SERVER?.trim() || undefined);
  const apiKey = options.apiKey ?? config.presetApiKey;
  if (named !== undefined) return connectTo(checkedUrl(named), apiKey, config);
  const address = addressOf(config);
  if (address !== undefined && (await isKeyturn(address))) return connectTo(address, apiKey, config);
  return startPrivate(config);
}

async function connectTo(baseUrl: string, apiKey: string | undefined, config: ServerConfig): Promise<OpenedServer> {
  if (apiKey === undefined) {
    const message = `the server at ${baseUrl} wants a key: give one with --api-key or KEYTURN_API_KEY (keyturn keys create makes one)`;
    throw new CliError(message, { exitCode: exitCode.usage });
  }
  const server = await AgentServer.connect({ baseUrl, apiKey, headers: clientHeaders }).catch((cause: unknown) => {
    if (cause instanceof ServerRefusal) {
      throw new CliError(explainRefusal(cause, baseUrl).join("\n"), { cause, exitCode: exitCode.usage });
    }
    throw new CliError(`there is no server at ${baseUrl}: ${describeFailure(cause)}`, { cause });
  });
  const close = () => Promise.resolve(server.close());
  return { server, isPrivate: false, apiKey, dataDir: config.dataDir, close };
}

/**
 * A server for this command alone, with the user's models and a data folder that goes away with it: the conversation itself is kept by the
 * client. So it never waits for another process that uses the data folder.
 */
async function startPrivate(config: ServerConfig): Promise<OpenedServer> {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-private-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const apiKey = `kt_${randomBytes(24).toString("hex")}`;
  try {
    const running = await startServer({
      config: {
        ...config,
        server: { ...config.server, host: "127.0.0.1", port: 0, http2: false, tls: undefined, publicUrl: undefined },
        store: { ...config.store, url: "sqlite:keyturn.db" },
        dataDir: folder,
        presetApiKey: apiKey,
        secrets: [...config.secrets, apiKey],
        // What matters to whoever runs a command is told by the turn itself.
        logLevel: "silent",
      },
    });
    const server = await AgentServer.connect({ baseUrl: running.address, apiKey, headers: clientHeaders });
    const close = async () => {
      server.close();
      await running.close();
      await remove();
    };
    return { server, isPrivate: true, apiKey, dataDir: config.dataDir, close };
  } catch (cause) {
    await remove();
    throw cause instanceof CliError ? cause : new CliError(explain(cause).join("\n"), { cause });
  }
}

/** A client that comes back: its run waits for it, as long as the server keeps runs. */
const clientHeaders = { "x-cursor-client-type": "keyturn-cli" };

function addressOf({ server }: ServerConfig): string | undefined {
  if (server.port === 0) return undefined;
  const host = server.host === "0.0.0.0" || server.host === "::" ? "127.0.0.1" : server.host;
  return `${server.tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${server.port}`;
}

async function isKeyturn(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(probeMs), redirect: "error" });
    return response.ok && (await response.text()).trim() === "ok";
  } catch {
    return false;
  }
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === "http:" || url.protocol === "https:")) return url.origin;
  throw new CliError(`${JSON.stringify(text)} is no address of a server, such as http://127.0.0.1:8484`, {
    exitCode: exitCode.usage,
  });
}
