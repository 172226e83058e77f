import { type DestinationStream, pino } from "pino";
import { createPrettyLine } from "./pretty-line.js";
import { createRedaction } from "./redact.js";

/** What is worth a look; objects first, words second. Neither prompts nor answers of models belong in either. */
export interface Logger {
  debug(facts: LogFacts, message: string): void;
  info(facts: LogFacts, message: string): void;
  warn(facts: LogFacts, message: string): void;
  error(facts: LogFacts, message: string): void;
  /** A logger whose lines all carry the facts. */
  child(facts: LogFacts): Logger;
}

/** Named values of a line: ids, counts, durations, an `err`. */
export type LogFacts = Readonly<Record<string, unknown>>;

/** How to log. */
export interface LoggerOptions {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  /** Values that must never appear in a line; later ones are added with `addSecrets`. */
  readonly secrets: readonly string[];
  /** Where lines go; standard error by default. */
  readonly stream?: { write(line: string): unknown; readonly isTTY?: boolean };
}

/** A logger and the way to tell it of more secrets. */
export interface RootLogger extends Logger {
  /** Adds values to redact, such as those of a reloaded configuration. None is ever taken back. */
  addSecrets(secrets: readonly string[]): void;
}

/** A line longer than this is cut: whatever is in it, it is not for people. */
const maxLineLength = 16_384;

/**
 * Creates the process's logger: JSON lines, or one readable line each on a terminal.
 * Redaction is the last step before the stream, on the finished line, and cannot be switched off (I-143).
 */
export function createLogger({ level, secrets, stream = process.stderr }: LoggerOptions): RootLogger {
  const known = new Set(secrets);
  let redact = createRedaction([...known]);
  const prettyLine = stream.isTTY === true ? createPrettyLine() : undefined;
  const destination: DestinationStream = {
    write: (line) => {
      const clean = redact(line);
      const short = clean.length > maxLineLength ? shorten(clean) : clean;
      stream.write(prettyLine === undefined ? short : prettyLine(short));
    },
  };
  const root = pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return Object.assign(wrap(root), {
    addSecrets: (more: readonly string[]) => {
      for (const secret of more) known.add(secret);
      redact = createRedaction([...known]);
    },
  });
}

type Underlying = Pick<ReturnType<typeof pino>, "debug" | "info" | "warn" | "error"> & {
  child(facts: Record<string, unknown>): Underlying;
};

function wrap(logger: Underlying): Logger {
  return {
    debug: (facts, message) => logger.debug(facts, message),
    info: (facts, message) => logger.info(facts, message),
    warn: (facts, message) => logger.warn(facts, message),
    error: (facts, message) => logger.error(facts, message),
    child: (facts) => wrap(logger.child({ ...facts })),
  };
}

/** Keeps a cut line valid JSON with its time, level and message. */
function shorten(line: string): string {
  try {
    const { level, time, msg } = JSON.parse(line) as Record<string, unknown>;
    const words = typeof msg === "string" ? msg.slice(0, 1_000) : "";
    return `${JSON.stringify({ level, time, msg: words, cutFromLength: line.length })}\n`;
  } catch {
    return `${JSON.stringify({ msg: "a line that was too long", cutFromLength: line.length })}\n`;
  }
}
