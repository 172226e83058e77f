import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../packages/server/bin/keyturn.js", import.meta.url));
const apiKey = "test-key-of-the-suite";

/** A server as users run it: a process of its own, from the built files. */
export interface ServerProcess {
  readonly baseUrl: string;
  readonly key: string;
  readonly pid: number;
  /** What it wrote to standard error so far. */
  log(): string;
  /** Sends a signal; resolves with the exit code, null when the signal itself ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `keyturn serve` on a free port; resolves once it answers. Rejects with its output when it ends before that.
 * Whoever starts it stops it.
 */
export async function startServerProcess(dataDir: string, more: readonly string[] = []): Promise<ServerProcess> {
  const child = spawn(process.execPath, [program, "serve", "--json", "--port", "0", "--data-dir", dataDir, ...more], {
    cwd: dataDir,
    env: { PATH: process.env.PATH, HOME: dataDir, KEYTURN_API_KEY: apiKey },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("error", reject);
    void ended.then((code) => reject(new Error(`the server ended with exit code ${code}:\n${log}`)));
  });
  return {
    baseUrl: (JSON.parse(line) as { address: string }).address,
    key: apiKey,
    pid: child.pid ?? 0,
    log: () => log,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
}

/** A folder that is removed when it is disposed of. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "keyturn-test-"));
  // A process that was just ended may still write its last file.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
  return { path, [Symbol.asyncDispose]: () => rm(path, options) };
}
