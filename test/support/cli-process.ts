import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../packages/server/bin/keyturn.js", import.meta.url));

/** How a command ended. */
export interface CliEnd {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

/** A command as a person or a script runs it: the real binary in a process of its own. */
export interface CliProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly ended: Promise<CliEnd>;
  /** Resolves once the output so far holds the text, from what the last call saw on; rejects when the command ends before. */
  until(text: string): Promise<void>;
  write(text: string): void;
  /** Ends the input. */
  end(): void;
}

/** Where and with what a command is run. */
export interface CliOptions {
  readonly workingDirectory: string;
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** In a pseudo-terminal of its own. */
  readonly terminal?: boolean;
}

/** Gives a command a terminal of its own, and hands on what is typed. */
const terminalProgram = "script";

/** Whether pseudo-terminals can be made here: by `script` of util-linux. */
export const hasTerminals =
  spawnSync(terminalProgram, ["--version"]).stdout?.toString().includes("util-linux") ?? false;

/** Starts a command. Dispose of it: that kills it if it still runs. */
export function startCli(args: readonly string[], options: CliOptions): CliProcess {
  const { workingDirectory, dataDir, environment, terminal = false } = options;
  const env = {
    PATH: process.env.PATH,
    HOME: dataDir,
    TMPDIR: process.env.TMPDIR,
    KEYTURN_DATA_DIR: dataDir,
    // Nothing is to be found by chance on a developer's machine.
    KEYTURN_PORT: "0",
    TERM: "xterm",
    ...environment,
  };
  const quoted = [process.execPath, program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const [command, words] = terminal
    ? [terminalProgram, ["-qfec", quoted, "/dev/null"]]
    : [process.execPath, [program, ...args]];
  const child = spawn(command, words, { cwd: workingDirectory, env, stdio: ["pipe", "pipe", "pipe"] });
  let out = "";
  let errors = "";
  let seen = 0;
  let isOver = false;
  let wake: (() => void)[] = [];
  const changed = (): void => {
    for (const each of wake.splice(0)) each();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    changed();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
    changed();
  });
  child.stdin.on("error", () => undefined);
  const ended = new Promise<CliEnd>((resolve) => {
    child.once("close", (code) => {
      isOver = true;
      changed();
      resolve({ code, out, errors });
    });
  });
  return {
    child,
    ended,
    write: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    until: async (text) => {
      for (;;) {
        const at = out.indexOf(text, seen);
        if (at >= 0) {
          seen = at + text.length;
          return;
        }
        if (isOver) throw new Error(`the command ended without ${JSON.stringify(text)}:\n${out}\n${errors}`);
        await new Promise<void>((resolve) => {
          wake = [...wake, resolve];
        });
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Runs a command to its end, with an input if there is one. */
export function runCliProcess(args: readonly string[], options: CliOptions, input?: string): Promise<CliEnd> {
  const cli = startCli(args, options);
  if (input !== undefined) cli.write(input);
  cli.end();
  return cli.ended;
}

/** Whether a process is there and no zombie. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)]);
  const state = stdout?.toString().trim() ?? "";
  return state !== "" && !state.startsWith("Z");
}
