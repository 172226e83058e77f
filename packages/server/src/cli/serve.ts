import { type RunningServer, startServer } from "../compose.js";
import type { ServerConfig } from "../config/server-config.js";
import { version } from "../version.js";
import { CliError, type CommonOptions, configOf, explain, type Terminal } from "./terminal.js";

/**
 * `serve`: runs the server until SIGINT or SIGTERM, then lets it end what it does; a second signal ends the process
 * at once. Rejects with a CliError when it cannot start.
 */
export async function serve(terminal: Terminal, options: CommonOptions): Promise<void> {
  const config = await configOf(terminal, options);
  const stopped = untilSignal(terminal);
  const server = await startServer({ config, logStream: terminal.stderr }).catch((error: unknown) => {
    throw new CliError(explain(error, config.server).join("\n"), { cause: error });
  });
  const text = options.json ? JSON.stringify(startFacts(server)) : startLines(server, config).join("\n");
  terminal.stdout.write(`${text}\n`);
  await stopped;
  await server.close();
}

function untilSignal(terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const handler = () => {
      if (asked) terminal.exit(1);
      asked = true;
      resolve();
    };
    terminal.onSignal("SIGINT", handler);
    terminal.onSignal("SIGTERM", handler);
  });
}

function startFacts({ address, port, newKey, models }: RunningServer): object {
  return { version, address, port, apiKey: newKey, models: models.models().map(({ id }) => id) };
}

/** What a person reads; the log goes to standard error. */
function startLines(server: RunningServer, config: ServerConfig): string[] {
  const { address, newKey } = server;
  const lines = [`Keyturn ${version} is ready at ${address}`];
  if (newKey === undefined) {
    lines.push(
      config.presetApiKey === undefined
        ? "Clients need an API key; `keyturn keys create` makes another one."
        : "Clients come in with the key in KEYTURN_API_KEY.",
    );
  } else {
    lines.push(
      "",
      "Your API key, shown only this once:",
      `  ${newKey}`,
      "",
      "Point a client here:",
      `  export CURSOR_BACKEND_URL=${address} CURSOR_API_BASE_URL=${address}`,
      `  export CURSOR_API_KEY=${newKey}`,
      "",
      `Models: ${server.models
        .models()
        .map(({ id }) => id)
        .join(", ")}`,
    );
  }
  if (config.models.models.length === 0) {
    lines.push("Demo model only: set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or write a keyturn.yaml.");
  }
  return lines;
}
