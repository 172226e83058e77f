import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { killGraceMs } from "./limits.js";

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process with all that it starts. */
export interface ProcessTree {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Settles when the process itself is gone; what it left behind may go on. */
  readonly exited: Promise<ProcessEnd>;
  /** Ends the whole tree: politely, then by force. Resolves when nothing of it is left that can be seen. */
  kill(): Promise<void>;
}

const markerName = "KEYTURN_PROCESS";
const openTrees = new Set<ProcessTrees>();

function endAll(): void {
  for (const trees of openTrees) trees.endNow();
}

/**
 * Starts processes in groups of their own and ends them whole. On Linux children that leave the group are found by a
 * variable in their environment. When this process ends, whatever is left is ended with it.
 */
export class ProcessTrees {
  readonly #id = randomUUID();
  readonly #groups = new Set<number>();
  readonly #graceMs: number;
  #started = 0;

  constructor(graceMs = killGraceMs) {
    this.#graceMs = graceMs;
    if (openTrees.size === 0) process.on("exit", endAll);
    openTrees.add(this);
  }

  /** Starts a program; rejects with the system's error when it cannot be started. */
  async start(command: string, args: readonly string[], options: SpawnOptions): Promise<ProcessTree> {
    const marker = `${this.#id}.${++this.#started}.`;
    const env = { ...(options.env ?? process.env), [markerName]: marker };
    const child = spawn(command, args, { ...options, env, detached: process.platform !== "win32", windowsHide: true });
    const exited = new Promise<ProcessEnd>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    const { pid } = child;
    if (pid === undefined) throw new Error(`${command} was not started.`);
    // A failing signal must not bring the client down.
    child.on("error", () => undefined);
    this.#groups.add(pid);
    void exited.then(() => {
      if (!send(groupOf(pid), 0)) this.#groups.delete(pid);
    });
    return {
      child,
      pid,
      exited,
      kill: () =>
        this.#kill(new Set([pid]), marker)
          .then(() => exited)
          .then(() => undefined),
    };
  }

  /** Ends all that was started and is still there. */
  async close(): Promise<void> {
    await this.#kill(new Set(this.#groups), `${this.#id}.`);
    openTrees.delete(this);
    if (openTrees.size === 0) process.removeListener("exit", endAll);
  }

  /** Ends all by force and without waiting: for the last moment of this process. */
  endNow(): void {
    signalAll(this.#groups, `${this.#id}.`, "SIGKILL");
  }

  async #kill(groups: ReadonlySet<number>, marker: string): Promise<void> {
    const deadline = Date.now() + this.#graceMs;
    signalAll(groups, marker, "SIGTERM");
    for (let wait = 5; isAnyAlive(groups, marker) && Date.now() < deadline; wait = Math.min(wait * 2, 100)) {
      await pause(wait);
    }
    for (let attempt = 0; attempt < 50 && isAnyAlive(groups, marker); attempt++) {
      signalAll(groups, marker, "SIGKILL");
      await pause(20);
    }
    for (const pid of groups) this.#groups.delete(pid);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function signalAll(groups: ReadonlySet<number>, marker: string, signal: NodeJS.Signals): void {
  if (process.platform === "win32") {
    for (const pid of groups) spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" });
    return;
  }
  for (const pid of groups) send(groupOf(pid), signal);
  for (const stray of membersOf(groups, marker)) send(stray, signal);
}

function isAnyAlive(groups: ReadonlySet<number>, marker: string): boolean {
  // Elsewhere than on Linux a group of which only unreaped processes are left counts as alive for a while.
  if (process.platform !== "linux") return [...groups].some((pid) => send(groupOf(pid), 0));
  return membersOf(groups, marker).length > 0;
}

function groupOf(pid: number): number {
  return process.platform === "win32" ? pid : -pid;
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Running processes of the groups, and those whose environment carries the marker. */
function membersOf(groups: ReadonlySet<number>, marker: string): number[] {
  if (process.platform !== "linux") return [];
  const entry = `\0${markerName}=${marker}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isMember(pid, groups, entry));
}

function isMember(pid: number, groups: ReadonlySet<number>, entry: string): boolean {
  try {
    // After the name in brackets: state, parent, group.
    const status = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, , group] = status.slice(status.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return false;
    return groups.has(Number(group)) || `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(entry);
  } catch {
    return false;
  }
}
