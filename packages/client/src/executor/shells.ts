import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DataFolders } from "./data-folders.js";
import type { ProcessTrees } from "./process-trees.js";
import { RunningShell } from "./running-shell.js";
import { type OutputStream, ShellOutput } from "./shell-output.js";
import { ShellSession } from "./shell-session.js";
import { TerminalFile } from "./terminal-file.js";

/** A command to be started. */
export interface ShellStart {
  readonly command: string;
  /** Empty means that of the session. */
  readonly workingDirectory: string;
  readonly toolCallId: string;
  readonly closeStdin: boolean;
  /** Output beyond it goes to a file as well. */
  readonly thresholdBytes: number;
  /** Ends it for good, in the background too. */
  readonly hardTimeoutMs?: number;
  readonly onOutput?: (stream: OutputStream, text: string) => void;
}

/** A command in the background. */
export interface BackgroundShell {
  readonly shellId: number;
  readonly shell: RunningShell;
  readonly file: TerminalFile;
}

interface Foreground {
  readonly shell: RunningShell;
  /** Tells the one who waits that the command went to the background. */
  readonly release: (background: BackgroundShell) => void;
}

/** All commands of one executor: those that are waited for and those in the background. */
export class Shells {
  readonly #folders: DataFolders;
  readonly #session: ShellSession;
  readonly #now: () => number;
  readonly #background = new Map<number, BackgroundShell>();
  readonly #foreground = new Map<string, Foreground>();
  readonly #running = new Set<RunningShell>();
  readonly #stateFolder: string;
  #lastId: number;

  constructor(
    workspace: string,
    folders: DataFolders,
    processes: ProcessTrees,
    environment: NodeJS.ProcessEnv,
    now: () => number,
  ) {
    this.#folders = folders;
    this.#now = now;
    this.#stateFolder = join(folders.root, "shell-state", String(process.pid));
    this.#session = new ShellSession(workspace, this.#stateFolder, processes, environment);
    this.#lastId = highestId(folders.terminals);
  }

  /** The directory a command would run in. */
  directoryFor(asked: string): string {
    return this.#session.directoryFor(asked);
  }

  /** Rejects with words for the model when a command could not run in a directory. */
  check(asked: string): Promise<void> {
    return this.#session.check(asked);
  }

  /** Starts a command; rejects with words for the model when that fails. */
  async start(request: ShellStart): Promise<RunningShell> {
    const { command, workingDirectory, toolCallId, closeStdin, thresholdBytes, hardTimeoutMs, onOutput } = request;
    const started = await this.#session.start(command, workingDirectory, closeStdin ? "ignore" : "pipe");
    const output = new ShellOutput(this.#folders.toolOutput, thresholdBytes, onOutput ?? (() => undefined));
    const shell = new RunningShell(command, toolCallId, started, output, this.#now);
    this.#running.add(shell);
    void shell.ended.then(() => this.#running.delete(shell));
    if (hardTimeoutMs !== undefined && hardTimeoutMs > 0) {
      // Longer delays than a timer can hold would fire at once.
      const timer = setTimeout(() => void shell.stop("timeout"), Math.min(hardTimeoutMs, 0x7fff_ffff));
      timer.unref();
      void shell.ended.then(() => clearTimeout(timer));
    }
    return shell;
  }

  /** Registers a command that is waited for, so that it can be moved by its tool call's id. Returns how to unregister. */
  await(shell: RunningShell, release: (background: BackgroundShell) => void): () => void {
    if (shell.toolCallId !== "") this.#foreground.set(shell.toolCallId, { shell, release });
    return () => {
      if (this.#foreground.get(shell.toolCallId)?.shell === shell) this.#foreground.delete(shell.toolCallId);
    };
  }

  /** Moves a command that is waited for to the background on the user's wish. Undefined when there is none. */
  force(toolCallId: string): BackgroundShell | undefined {
    const found = this.#foreground.get(toolCallId);
    if (!found || found.shell.hasEnded) return undefined;
    const background = this.background(found.shell);
    found.release(background);
    return background;
  }

  /** Lets a command go on in the background: its output so far and from now on goes to a file. */
  background(shell: RunningShell): BackgroundShell {
    const shellId = ++this.#lastId;
    const { pid, workingDirectory: cwd, command, startedAt } = shell;
    const file = new TerminalFile(this.#folders.terminals, shellId, { pid, cwd, command, startedAt }, this.#now);
    file.append(shell.output.interleaved.text());
    shell.output.redirect((_, text) => file.append(text));
    const background = { shellId, shell, file };
    this.#background.set(shellId, background);
    this.#foreground.delete(shell.toolCallId);
    void shell.ended.then(({ exitCode, signal, executionTimeMs }) => {
      file.end(`exit_code: ${exitCode}${signal === "" ? "" : `\nsignal: ${signal}`}\nelapsed_ms: ${executionTimeMs}`);
    });
    return background;
  }

  /** A background command by its id, also when it has ended. */
  find(shellId: number): BackgroundShell | undefined {
    return this.#background.get(shellId);
  }

  /** Ends every command. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((shell) => shell.stop("abort").then(() => shell.ended)));
    await rm(this.#stateFolder, { recursive: true, force: true });
  }
}

/** Ids go on where earlier sessions stopped: their files stay readable. */
function highestId(folder: string): number {
  try {
    return Math.max(0, ...readdirSync(folder).map((name) => Number(/^(\d{1,9})\.txt$/.exec(name)?.[1] ?? 0)));
  } catch {
    return 0;
  }
}
