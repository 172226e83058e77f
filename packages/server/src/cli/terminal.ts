import { ConfigError } from "../config/config-error.js";
import { loadConfig } from "../config/load.js";
import type { ServerConfig } from "../config/server-config.js";
import { PresetKeyError } from "../http/api-keys.js";
import { defaultModelsFor } from "../models/catalog.js";
import { StoreOpenError } from "../store/errors.js";

/** The process as the command line sees it; tests hand in their own. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Missing where nothing can be read. */
  readonly stdin?: NodeJS.ReadStream;
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  /** SIGHUP also stands for output that nobody reads any more. */
  onSignal(signal: "SIGINT" | "SIGTERM" | "SIGHUP", handler: () => void): void;
  exit(code: number): void;
}

/** Options that several verbs have. */
export interface CommonOptions {
  readonly config?: string;
  readonly dataDir?: string;
  readonly host?: string;
  readonly port?: number;
  readonly json?: boolean;
  readonly apiKey?: string;
}

/** A mistake of the user, in one clear line; ends the command with an exit code. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? 1;
  }
}

/** The configuration that the options, the environment and the file give. Rejects with ConfigError. */
export function configOf(terminal: Terminal, options: CommonOptions): Promise<ServerConfig> {
  const { environment, workingDirectory } = terminal;
  const { config, dataDir, host, port } = options;
  return loadConfig({
    environment,
    workingDirectory,
    flags: { config, dataDir, host, port },
    defaultModels: defaultModelsFor,
  });
}

/** Prints a result: as one JSON document with `--json`, else as lines. */
export function print(terminal: Terminal, options: CommonOptions, value: unknown, lines: readonly string[]): void {
  const text = options.json ? JSON.stringify(value, undefined, 2) : lines.join("\n");
  if (text !== "") terminal.stdout.write(`${text}\n`);
}

/** Rows as aligned columns, the first one a heading. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** What went wrong, in lines for a person: what and what to do, no stack. */
export function explain(error: unknown, config?: { host: string; port: number }): string[] {
  if (error instanceof ConfigError) return error.lines;
  if (error instanceof StoreOpenError || error instanceof PresetKeyError || error instanceof CliError) {
    return error.message.split("\n");
  }
  if (!(error instanceof Error)) return [String(error)];
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === "listen" || syscall === "getaddrinfo") {
    const place = config ? `${config.host}:${config.port}` : "that address";
    if (code === "EADDRINUSE")
      return [`${place} is in use; stop the other program, or choose another port with --port`];
    if (code === "EACCES") return [`not allowed to listen on ${place}; choose a port above 1023 with --port`];
    return [`cannot listen on ${place}: ${code ?? error.message}; choose another address with --host`];
  }
  return [`${error.message} (--debug shows where)`];
}
