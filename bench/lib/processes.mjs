// @ts-check
// The processes of the bench and what the system says about them. All end with the bench, however it ends.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** @typedef {{ name: string, pid: number, port: number, key: string, folder: string, stop(): Promise<void> }} Running */

const startMs = 30_000;
const stopMs = 5_000;
/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();
/** @type {Set<string>} */
const folders = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/** A folder that is gone when the bench ends. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "keyturn-bench-"));
  folders.add(folder);
  return folder;
}

/** @param {string} script @param {string[]} [args] */
export function startScript(script, args = []) {
  const path = fileURLToPath(new URL(`../${script}`, import.meta.url));
  return start(script, [path, ...args], "", {});
}

/**
 * A real server with the fake vendor as its provider and an empty data folder.
 * @param {string} checkout @param {number} vendorPort @param {readonly string[]} models @param {string[]} [nodeOptions]
 */
export function startServer(checkout, vendorPort, models, nodeOptions = []) {
  const folder = temporaryFolder();
  const config = join(folder, "keyturn.yaml");
  const baseURL = `http://127.0.0.1:${vendorPort}/v1`;
  writeFileSync(
    config,
    JSON.stringify({
      providers: { bench: { type: "openai-compatible", baseURL } },
      models: models.map((id) => ({ id, provider: "bench", contextWindow: 1_000_000 })),
    }),
  );
  const bin = join(checkout, "packages/server/bin/keyturn.js");
  const options = ["serve", "--port", "0", "--data-dir", folder, "--config", config];
  return start("server", [...nodeOptions, bin, ...options], folder, {
    KEYTURN_API_KEY: "kt_bench-key-of-no-secrecy-at-all",
  });
}

/**
 * Starts Node and waits for the address it prints.
 * @param {string} name @param {string[]} args @param {string} folder @param {Record<string, string>} env
 * @returns {Promise<Running>}
 */
async function start(name, args, folder, env) {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  children.add(child);
  const ended = new Promise((resolve) => child.once("close", resolve));
  void ended.then(() => children.delete(child));
  const port = await portOf(name, child);
  const stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMs);
    await ended;
    clearTimeout(timer);
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
  };
  return { name, pid: child.pid ?? 0, port, key: env.KEYTURN_API_KEY ?? "", folder, stop };
}

/** @param {string} name @param {import("node:child_process").ChildProcess} child @returns {Promise<number>} */
function portOf(name, child) {
  return new Promise((resolve, reject) => {
    /** @type {string[]} */
    const said = [];
    const fail = () => reject(new Error(`${name} did not start:\n${said.join("\n")}`));
    const timer = setTimeout(fail, startMs);
    child.once("close", fail);
    for (const output of [child.stdout, child.stderr]) {
      if (!output) continue;
      createInterface(output).on("line", (line) => {
        if (said.length < 50) said.push(line);
        const port = /http:\/\/[\w.]+:(\d+)/.exec(line)?.[1];
        if (!port) return;
        clearTimeout(timer);
        resolve(Number(port));
      });
    }
  });
}

/** Resident memory of a process in MiB; undefined where the system does not say. @param {number} pid */
export function residentMiB(pid) {
  const kib = /VmRSS:\s+(\d+)/.exec(readProc(pid, "status"))?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

/** Seconds a process has computed and bytes it has written, to files and sockets. @param {number} pid */
export function workOf(pid) {
  // The fields after the name in parentheses; user and system time are the 14th and 15th of the line, in 1/100 s.
  const fields = readProc(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ");
  const written = /wchar: (\d+)/.exec(readProc(pid, "io"))?.[1] ?? 0;
  return { cpuSeconds: (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100, writtenBytes: Number(written) };
}

/** @param {number} pid @param {string} file */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Bytes of the log on disk. @param {string} folder */
export function logBytes(folder) {
  const size = (/** @type {string} */ name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return size("keyturn.db") + size("keyturn.db-wal");
}
