import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../../packages/server/bin/keyturn.js", import.meta.url));

/** A real server process. */
export interface KeyturnProcess {
  readonly url: string;
  readonly apiKey: string;
  /** What it logged so far. */
  log(): string;
  /** Stops it and waits for its end. */
  close(): Promise<void>;
}

/** Starts `keyturn serve` with nothing of this process's environment but the path; resolves once it listens. */
export async function startKeyturn(options: { dataDir: string; config: object }): Promise<KeyturnProcess> {
  const apiKey = "kt_interop_0123456789abcdef0123456789abcdef";
  await mkdir(options.dataDir, { recursive: true });
  const configFile = join(options.dataDir, "interop.json");
  await writeFile(configFile, JSON.stringify(options.config));
  const args = [bin, "serve", "--json", "--data-dir", options.dataDir, "--config", configFile];
  const child = spawn(process.execPath, args, {
    cwd: options.dataDir,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: options.dataDir, KEYTURN_API_KEY: apiKey },
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const exited = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => {
      resolve((JSON.parse(line) as { address: string }).address);
    });
    child.on("error", reject);
    void exited.then(() => reject(new Error(`The server ended before it listened:\n${log}`)));
  });
  return {
    url,
    apiKey,
    log: () => log,
    async close() {
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await exited;
      clearTimeout(force);
    },
  };
}
