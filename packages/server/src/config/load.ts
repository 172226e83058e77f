import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ConfigError, type ConfigProblem } from "./config-error.js";
import { crossCheck } from "./cross-check.js";
import { type Environment, providersFromEnvironment } from "./env-providers.js";
import { type ParsedFile, parseConfig } from "./parse.js";
import { expandReferences } from "./references.js";
import type { ConfigFile } from "./schema.js";
import { collectSecrets } from "./secrets.js";
import type {
  ClientRule,
  ConfiguredModel,
  ConfiguredModels,
  ConfiguredProvider,
  ServerConfig,
} from "./server-config.js";
import { validate } from "./validate.js";

/** What a configuration is loaded from. Nothing else is looked at. */
export interface LoadInput {
  readonly environment: Environment;
  /** Absolute path of the folder that relative paths of the command line and the environment start at. */
  readonly workingDirectory: string;
  /** Values of the command line; they win over everything else. */
  readonly flags?: {
    readonly config?: string;
    readonly host?: string;
    readonly port?: number;
    readonly dataDir?: string;
  };
  /** The models to offer for a provider when none are listed. */
  readonly defaultModels: (type: ConfiguredProvider["type"], providerName: string) => readonly ConfiguredModel[];
}

const fileNames = ["keyturn.yaml", "keyturn.yml", "keyturn.json", "keyturn.jsonc"];

/** The published SDK never comes back to a run: it cancels by closing its stream. */
const builtInClients: readonly ClientRule[] = [
  {
    name: "sdk",
    headers: { "x-cursor-client-type": "sdk" },
    onDisconnect: "cancel",
    disconnectGraceMs: 0,
    contentType: "connect",
  },
];

/**
 * Finds, reads and checks the configuration: command line over environment over file over defaults.
 * Rejects with ConfigError, and with nothing else, whatever the file holds.
 */
export async function loadConfig(input: LoadInput): Promise<ServerConfig> {
  const { environment, flags = {}, workingDirectory } = input;
  const dataDir = resolve(
    workingDirectory,
    flags.dataDir ?? set(environment.KEYTURN_DATA_DIR) ?? defaultDataDir(environment),
  );
  const found = await findFile(input, dataDir);
  const parsed = parseConfig(found?.text ?? "", found?.name ?? "");
  const folder = found === undefined ? workingDirectory : dirname(found.path);
  const expanded = await expandReferences(parsed, { environment, folder });
  const file = validate(parsed, expanded);
  const models = configuredModels(file, input);
  const tls = file.server.tls && {
    cert: resolve(folder, file.server.tls.cert),
    key: resolve(folder, file.server.tls.key),
  };
  const problems = [...crossCheck(file, models, parsed.problem), ...(await missingTlsFiles(parsed, tls))];
  if (problems.length > 0) throw new ConfigError(problems);

  const presetApiKey = set(environment.KEYTURN_API_KEY);
  return {
    server: { ...file.server, ...listenAddress(input, file), tls },
    store: file.store,
    dataDir,
    models,
    slots: file.slots,
    clients: [...file.clients.map((client) => clientRule(client, file)), ...builtInClients],
    limits: file.limits,
    logLevel: logLevel(environment) ?? file.logLevel,
    presetApiKey,
    secrets: collectSecrets(file, models, presetApiKey),
    file: found?.path,
    watchedFiles: found === undefined ? [] : [found.path, ...expanded.files],
  };
}

function defaultDataDir(environment: Environment): string {
  return join(set(environment.HOME) ?? set(environment.USERPROFILE) ?? homedir(), ".keyturn");
}

interface FoundFile {
  readonly path: string;
  /** As the user knows it, for messages. */
  readonly name: string;
  readonly text: string;
}

async function findFile(
  { environment, flags, workingDirectory }: LoadInput,
  dataDir: string,
): Promise<FoundFile | undefined> {
  const named = flags?.config ?? set(environment.KEYTURN_CONFIG);
  if (named !== undefined) {
    const path = resolve(workingDirectory, named);
    return { path, name: named, text: await readText(path, named) };
  }
  const candidates = [
    ...fileNames.map((name) => ({ path: join(workingDirectory, name), name })),
    { path: join(dataDir, "keyturn.yaml"), name: join(dataDir, "keyturn.yaml") },
  ];
  for (const { path, name } of candidates) {
    if (await isThere(path)) return { path, name, text: await readText(path, name) };
  }
  return undefined;
}

async function readText(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const message = code === "ENOENT" ? "there is no such file" : `cannot be read (${code ?? String(cause)})`;
    throw new ConfigError([{ file: name, path: "", message }], { cause });
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    // Anything but its absence is told when it is read.
    return !["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

function configuredModels(file: ConfigFile, { environment, defaultModels }: LoadInput): ConfiguredModels {
  const providers: ConfiguredProvider[] =
    file.providers === undefined
      ? providersFromEnvironment(environment)
      : Object.entries(file.providers).map(([name, provider]) => ({ name, ...provider }));
  const models =
    file.models ??
    firstOfEachId(
      providers.flatMap(({ name, type }) => defaultModels(type, name).map((model) => ({ ...model, provider: name }))),
    );
  return { providers, models, aliases: file.aliases, fallbacks: file.fallbacks };
}

function firstOfEachId(models: readonly ConfiguredModel[]): ConfiguredModel[] {
  return models.filter(({ id }, index) => models.findIndex((other) => other.id === id) === index);
}

function clientRule(client: ConfigFile["clients"][number], { limits }: ConfigFile): ClientRule {
  const headers = Object.fromEntries(
    Object.entries(client.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { ...client, headers, disconnectGraceMs: client.disconnectGraceMs ?? limits.disconnectGraceMs };
}

function listenAddress({ environment, flags = {} }: LoadInput, file: ConfigFile): { host: string; port: number } {
  const host = flags.host ?? set(environment.KEYTURN_HOST) ?? file.server.host;
  const text = set(environment.KEYTURN_PORT);
  const port = flags.port ?? (text === undefined ? file.server.port : Number(text));
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    const path = flags.port === undefined ? "KEYTURN_PORT" : "--port";
    throw new ConfigError([{ path, message: "must be a whole number from 0 to 65535" }]);
  }
  return { host, port };
}

const logLevels: readonly ConfigFile["logLevel"][] = ["trace", "debug", "info", "warn", "error", "silent"];

function logLevel(environment: Environment): ConfigFile["logLevel"] | undefined {
  const text = set(environment.KEYTURN_LOG_LEVEL)?.toLowerCase();
  const level = logLevels.find((known) => known === text);
  if (text !== undefined && level === undefined) {
    throw new ConfigError([{ path: "KEYTURN_LOG_LEVEL", message: `must be one of ${logLevels.join(", ")}` }]);
  }
  return level;
}

async function missingTlsFiles(parsed: ParsedFile, tls: ServerConfig["server"]["tls"]): Promise<ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  for (const [key, path] of Object.entries(tls ?? {})) {
    if (!(await isThere(path))) problems.push(parsed.problem(["server", "tls", key], "there is no such file"));
  }
  return problems;
}

/** An empty variable counts as one that is not set. */
function set(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === "" ? undefined : trimmed;
}
