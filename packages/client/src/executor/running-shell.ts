import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { OutputFile, ShellOutput } from "./shell-output.js";
import type { StartedCommand } from "./shell-session.js";

/** Why a command was ended from outside. */
export type StopReason = "abort" | "timeout";

/** How a command ended. */
export interface ShellEnd {
  /** As a shell tells it: 128 and more for a signal. */
  readonly exitCode: number;
  readonly signal: string;
  readonly stopped: StopReason | null;
  /** The directory it ended in. */
  readonly cwd: string;
  readonly executionTimeMs: number;
  readonly file: OutputFile | null;
}

const signalNumbers: { readonly [name: string]: number } = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** What a command left behind may hold its output open: when nothing came for so long, the output counts as complete. */
const quietMs = 100;
const longestDrainRounds = 20;

/** A command under way. Ends with its shell, also when something that it started goes on. */
export class RunningShell {
  readonly command: string;
  readonly toolCallId: string;
  readonly workingDirectory: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly output: ShellOutput;
  /** Never rejects. */
  readonly ended: Promise<ShellEnd>;
  readonly #started: StartedCommand;
  #stopped: StopReason | null = null;
  #hasEnded = false;

  constructor(command: string, toolCallId: string, started: StartedCommand, output: ShellOutput, now: () => number) {
    this.command = command;
    this.toolCallId = toolCallId;
    this.#started = started;
    this.output = output;
    this.workingDirectory = started.workingDirectory;
    this.pid = started.tree.pid;
    this.startedAt = now();
    const { stdout, stderr } = started.tree.child;
    if (stdout) output.attach("stdout", stdout);
    if (stderr) output.attach("stderr", stderr);
    this.ended = this.#end(now);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Ends the command with all that it started. */
  async stop(reason: StopReason): Promise<void> {
    if (this.#hasEnded) return;
    this.#stopped ??= reason;
    await this.#started.tree.kill();
  }

  /** Types into the command. False when it does not read any more. */
  write(text: string): boolean {
    const { stdin } = this.#started.tree.child;
    if (!stdin?.writable || this.#hasEnded) return false;
    stdin.write(text);
    return true;
  }

  async #end(now: () => number): Promise<ShellEnd> {
    const { child, exited } = this.#started.tree;
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const { code, signal } = await exited;
    await this.#drain(closed);
    const executionTimeMs = Math.max(0, Math.round(now() - this.startedAt));
    const file = await this.output.finish();
    const cwd = await this.#started.settle();
    // What goes on in the background may keep writing, but must not keep this program from ending.
    for (const stream of [child.stdout, child.stderr]) release(stream);
    this.#hasEnded = true;
    const exitCode = code ?? 128 + (signalNumbers[signal ?? ""] ?? 0);
    return { exitCode, signal: signal ?? "", stopped: this.#stopped, cwd, executionTimeMs, file };
  }

  async #drain(closed: Promise<void>): Promise<void> {
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    for (let round = 0; round < longestDrainRounds && !isClosed; round++) {
      const before = this.output.bytes;
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([closed, new Promise<void>((resolve) => (timer = setTimeout(resolve, quietMs)))]);
      clearTimeout(timer);
      if (this.output.bytes === before && !this.output.isBlocked) return;
    }
  }
}

function release(stream: Readable | null): void {
  (stream as Partial<Socket> | null)?.unref?.();
}
