/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** The file as the user named it, or undefined for the environment and the command line. */
  readonly file?: string;
  /** Counted from 1, like the column. */
  readonly line?: number;
  readonly column?: number;
  /** The key path, such as `providers.openai.apiKey`; empty for the whole file. */
  readonly path: string;
  /** What is wrong and what to do, without the offending value: it may be a secret. */
  readonly message: string;
}

/** The configuration cannot be used. The only error that loading throws; `lines` are ready to print. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], options?: { cause?: unknown }) {
    super(problems.map(toLine).join("\n"), options);
    this.name = "ConfigError";
    this.problems = problems;
  }

  /** One line a problem: `keyturn.yaml:3:5 server.port: must be a number`. */
  get lines(): string[] {
    return this.problems.map(toLine);
  }
}

function toLine({ file, line, column, path, message }: ConfigProblem): string {
  const place = file === undefined ? "" : line === undefined ? `${file} ` : `${file}:${line}:${column} `;
  return `${place}${path === "" ? "" : `${path}: `}${message}`;
}
