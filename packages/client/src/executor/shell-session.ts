import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ProcessTree, ProcessTrees } from "./process-trees.js";

/** A command that was started, and what it leaves for the next one. */
export interface StartedCommand {
  readonly tree: ProcessTree;
  readonly workingDirectory: string;
  /** To be called when it has ended by itself: returns the directory it ended in. */
  settle(): Promise<string>;
}

/*
 * The command is run by `eval`, so that a trap on the shell's end can note down where it ended and what it exported. What a
 * command that replaces its shell or is killed leaves behind is not noted, and the session stays as it was.
 */
const script = `
[ -n "$3" ] && . "$3" >/dev/null 2>&1
__keyturn_command=$1
__keyturn_state=$2
set --
trap '{ pwd -P > "$__keyturn_state.cwd"; { export -p; declare -f; } > "$__keyturn_state.env"; } 2>/dev/null' EXIT
eval "$__keyturn_command"
`;

/** The shell's name that the context tells and commands are run with. */
export function shellPath(environment: NodeJS.ProcessEnv): string {
  if (process.platform === "win32") return environment.ComSpec ?? "cmd.exe";
  const own = environment.SHELL ?? "";
  if (/\/(?:bash|zsh)$/.test(own) && existsSync(own)) return own;
  return ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find((path) => existsSync(path)) ?? "/bin/sh";
}

/** Directory, exported variables and functions that carry over between commands which name no directory of their own. */
export class ShellSession {
  readonly #workspace: string;
  readonly #folder: string;
  readonly #processes: ProcessTrees;
  readonly #environment: NodeJS.ProcessEnv;
  #directory: string;
  #state: string | null = null;

  constructor(workspace: string, folder: string, processes: ProcessTrees, environment: NodeJS.ProcessEnv) {
    this.#workspace = workspace;
    this.#directory = workspace;
    this.#folder = folder;
    this.#processes = processes;
    this.#environment = environment;
  }

  /** The directory a command would run in. */
  directoryFor(asked: string): string {
    return asked === "" ? this.#directory : resolve(this.#workspace, asked);
  }

  /** Rejects with words for the model when the directory cannot be used. */
  async check(asked: string): Promise<void> {
    const directory = this.directoryFor(asked);
    const found = await stat(directory).catch(() => null);
    if (!found) throw new Error(`The working directory ${directory} does not exist.`);
    if (!found.isDirectory()) throw new Error(`The working directory ${directory} is not a directory.`);
  }

  /** Starts a command. Rejects with words for the model when it cannot be started. */
  async start(command: string, asked: string, stdin: "pipe" | "ignore"): Promise<StartedCommand> {
    const workingDirectory = this.directoryFor(asked);
    await this.check(asked);
    await mkdir(this.#folder, { recursive: true });
    const state = join(this.#folder, randomUUID());
    const restored = asked === "" && this.#state !== null ? `${this.#state}.env` : "";
    const shell = shellPath(this.#environment);
    const args =
      process.platform === "win32"
        ? ["/d", "/s", "/c", `"${command}"`]
        : ["-c", script, shell.slice(shell.lastIndexOf("/") + 1), command, state, restored];
    const tree = await this.#processes.start(shell, args, {
      cwd: workingDirectory,
      env: commandEnvironment(this.#environment),
      stdio: [stdin, "pipe", "pipe"],
      windowsVerbatimArguments: process.platform === "win32",
    });
    tree.child.stdin?.on("error", () => undefined);
    return { tree, workingDirectory, settle: () => this.#settle(state, workingDirectory) };
  }

  async #settle(state: string, workingDirectory: string): Promise<string> {
    const text = await readFile(`${state}.cwd`, "utf8").catch(() => "");
    await rm(`${state}.cwd`, { force: true });
    const directory = text.replace(/\n$/, "");
    if (directory === "") return workingDirectory;
    const old = this.#state;
    this.#state = state;
    this.#directory = directory;
    if (old !== null) await rm(`${old}.env`, { force: true });
    return directory;
  }
}

function commandEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // The key of the agent's server is nothing a command of the agent needs.
  const { KEYTURN_API_KEY: _, ...rest } = environment;
  return { ...rest, KEYTURN_AGENT: "1", CURSOR_AGENT: "1", TERM: "dumb", GIT_TERMINAL_PROMPT: "0" };
}
