import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, type StartOptions, startServer } from "../../packages/server/src/compose.js";
import { loadConfig } from "../../packages/server/src/config/load.js";

/** A server in this process, with a data folder of its own. */
export interface TestServer extends AsyncDisposable {
  readonly server: RunningServer;
  readonly baseUrl: string;
  /** An API key that is good. */
  readonly key: string;
  readonly dataDir: string;
  /** The log's lines so far. */
  readonly log: readonly string[];
  /** Stops the server and starts another on the same data folder. */
  restart(): Promise<void>;
}

/** What a test changes. */
export interface TestServerOptions {
  /** The configuration file's text: YAML. */
  readonly config?: string;
  readonly turn?: StartOptions["turn"];
}

const testKey = "test-key-of-the-suite";

/** Starts a server on a free port. Dispose of it: that stops it and removes its data. */
export async function startTestServer({ config = "", turn }: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "keyturn-test-"));
  await writeFile(join(dataDir, "keyturn.yaml"), config);
  const log: string[] = [];
  const start = async () => {
    const loaded = await loadConfig({
      environment: { KEYTURN_API_KEY: testKey, KEYTURN_LOG_LEVEL: "debug" },
      workingDirectory: dataDir,
      flags: { port: 0, dataDir },
      defaultModels: () => [],
    });
    return startServer({ config: loaded, turn, logStream: { write: (line: string) => log.push(line) } });
  };
  let server = await start();
  return {
    get server() {
      return server;
    },
    get baseUrl() {
      return server.address;
    },
    key: testKey,
    dataDir,
    log,
    async restart() {
      await server.close();
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
