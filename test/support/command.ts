import { runCli } from "../../packages/server/src/cli/program.js";

/** A command's end: its exit code and everything it printed. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** A command under way. */
export interface RunningCommand {
  readonly result: Promise<CommandResult>;
  /** Resolves once standard output holds the text. */
  printed(text: string): Promise<void>;
  /** Sends SIGINT. */
  interrupt(): void;
}

/** Starts a command of the command line in this process, on a data folder. */
export function startCommand(
  args: readonly string[],
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): RunningCommand {
  let out = "";
  let errors = "";
  let changed: (() => void)[] = [];
  const signals: (() => void)[] = [];
  const code = runCli(args, {
    environment: { KEYTURN_DATA_DIR: dataDir, KEYTURN_LOG_LEVEL: "silent", ...environment },
    workingDirectory: dataDir,
    stdout: {
      write: (text) => {
        out += text;
        for (const wake of changed.splice(0)) wake();
      },
    },
    stderr: { write: (text) => (errors += text) },
    onSignal: (_signal, handler) => signals.push(handler),
    exit: () => {},
  });
  return {
    result: code.then((status) => ({ code: status, out, errors })),
    printed: async (text) => {
      while (!out.includes(text)) await new Promise<void>((resolve) => (changed = [...changed, resolve]));
    },
    interrupt: () => signals[0]?.(),
  };
}

/** Runs a command to its end. */
export function runCommand(
  args: readonly string[],
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return startCommand(args, dataDir, environment).result;
}
