import { ConfigError } from "../../config/config-error.js";
import type { ServerConfig } from "../../config/server-config.js";
import { StoreOpenError } from "../../store/errors.js";
import { openStoreReader, storeFile } from "../../store/open.js";
import { version } from "../../version.js";
import { serverAddress } from "../store-or-server.js";
import { CliError, type CommonOptions, configOf, print, type Terminal } from "../terminal.js";
import { checkDataFolder } from "./check-data-folder.js";
import { checkServer, checkStream } from "./check-server.js";
import { checkStore, unopened } from "./check-store.js";
import { type Finding, findingLines, healthy, problem } from "./finding.js";

/** Options of `doctor`. */
export type DoctorOptions = CommonOptions & {
  /** The address to look at, such as that of a proxy in front of the server. */
  readonly url?: string;
};

/**
 * `doctor`: looks at everything a server stands on, changes nothing, and says what to do about each problem.
 * Rejects with a CliError, after everything is printed, when there is one.
 */
export async function doctor(terminal: Terminal, options: DoctorOptions): Promise<void> {
  const findings = [checkNode(process.versions.node), ...(await checkAll(terminal, options))];
  const problems = findings.filter((finding) => !finding.healthy).length;
  const lines = findings.flatMap(findingLines);
  print(terminal, options, { healthy: problems === 0, version, findings }, lines);
  if (problems > 0) throw new CliError(problems === 1 ? "one problem was found" : `${problems} problems were found`);
}

async function checkAll(terminal: Terminal, options: DoctorOptions): Promise<Finding[]> {
  let config: ServerConfig;
  try {
    config = await configOf(terminal, options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Where the data is and where the server listens stands in there.
    return error.lines.map((line) =>
      problem("config", line, "correct it; keyturn config validate says when it is right"),
    );
  }
  const where = config.file ?? "no file: defaults and environment";
  return [
    healthy("config", `${where}, models: ${config.models.models.length}`),
    ...(await checkData(config)),
    ...(await checkAnswers(config, options)),
  ];
}

async function checkData({ store, dataDir }: ServerConfig): Promise<Finding[]> {
  try {
    const file = storeFile({ url: store.url, dataDir });
    const folder = await checkDataFolder(dataDir, file);
    const reader = await openStoreReader({ url: store.url, dataDir });
    try {
      return [...folder, ...(await checkStore(reader))];
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error;
    return [error.code === "missing" ? healthy("store", error.message) : unopened(error)];
  }
}

async function checkAnswers(config: ServerConfig, options: DoctorOptions): Promise<Finding[]> {
  const url = options.url ?? serverAddress(config.server);
  const server = await checkServer(url, options.url !== undefined || (await isInUse(config)));
  if (!server.healthy || options.url === undefined) return [server];
  return [server, await checkStream(url, options.apiKey ?? config.presetApiKey, config.server.heartbeatMs)];
}

async function isInUse({ store, dataDir }: ServerConfig): Promise<boolean> {
  try {
    const reader = await openStoreReader({ url: store.url, dataDir });
    const inUse = reader.isInUse();
    reader.close();
    return inUse;
  } catch {
    return false;
  }
}

/** Whether this Node can run the server, now that it came this far. */
export function checkNode(node: string): Finding {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const fits = major > 20 || (major === 20 && minor >= 19);
  const words = `Node ${node}, Keyturn ${version}`;
  return fits ? healthy("node", words) : problem("node", words, "install Node 20.19 or newer");
}
