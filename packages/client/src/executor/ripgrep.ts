import type { ProcessTrees } from "./process-trees.js";

/** How a search ended. */
export interface RipgrepEnd {
  /** 0 found, 1 nothing found, 2 an error; null when it was stopped. */
  readonly code: number | null;
  readonly errors: string;
}

const longestRecord = 1024 * 1024;
const longestErrors = 8 * 1024;

/**
 * Runs the bundled ripgrep and hands over its output record by record (`separator` ends one). `take` returns false to
 * stop the search. Records without end are cut, so memory stays bounded.
 */
export async function runRipgrep(
  processes: ProcessTrees,
  args: readonly string[],
  folder: string,
  separator: "\n" | "\0",
  signal: AbortSignal,
  take: (record: string) => boolean,
): Promise<RipgrepEnd> {
  signal.throwIfAborted();
  const { RIPGREP_CONFIG_PATH: _, ...env } = process.env;
  const tree = await processes.start(await ripgrepPath(), ["--no-config", "--no-messages", "--color=never", ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    void tree.kill();
  };
  signal.addEventListener("abort", stop, { once: true });
  let rest = "";
  let errors = "";
  tree.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    if (errors.length < longestErrors) errors += chunk;
  });
  tree.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    const records = (rest + chunk).split(separator);
    rest = (records.pop() ?? "").slice(0, longestRecord);
    for (const record of records) if (!stopped && !take(record)) stop();
  });
  await new Promise<void>((resolve) => tree.child.once("close", () => resolve()));
  const { code } = await tree.exited;
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
  if (rest !== "" && !stopped) take(rest);
  return { code: stopped ? null : code, errors };
}

/** The bundled program, or the one on the search path where the bundle has none for this machine. */
async function ripgrepPath(): Promise<string> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    return process.platform === "win32" ? "rg.exe" : "rg";
  }
}
