import { inspect } from "node:util";

const levels: Readonly<Record<number, readonly [name: string, colour: string]>> = {
  10: ["trace", "\u001b[90m"],
  20: ["debug", "\u001b[90m"],
  30: ["info", "\u001b[32m"],
  40: ["warn", "\u001b[33m"],
  50: ["error", "\u001b[31m"],
  60: ["fatal", "\u001b[31m"],
};

const dim = "\u001b[2m";
const plain = "\u001b[0m";

/** Turns a JSON log line into one for a person: time of day, level, message, facts; a stack follows on lines of its own. */
export function createPrettyLine(): (line: string) => string {
  return (line) => {
    let entry: Record<string, unknown>;
    try {
      entry = JSON.parse(line) as Record<string, unknown>;
    } catch {
      return line;
    }
    const { level, time, msg, err, ...facts } = entry;
    const [name, colour] = levels[Number(level)] ?? ["log", ""];
    const clock = typeof time === "string" ? time.slice(11, 19) : "";
    const pairs = Object.entries(facts).map(([key, value]) => `${key}=${printable(value)}`);
    const stack = errorText(err);
    return [
      `${dim}${clock}${plain} ${colour}${name.padEnd(5)}${plain} ${oneLine(msg)}`,
      pairs.length === 0 ? "" : ` ${dim}${pairs.join(" ")}${plain}`,
      stack === "" ? "" : `\n${dim}${stack}${plain}`,
      "\n",
    ].join("");
  };
}

function oneLine(message: unknown): string {
  return typeof message === "string" ? withoutControls(message) : "";
}

function printable(value: unknown): string {
  if (typeof value === "string") return /[\s"=]/.test(value) ? JSON.stringify(value) : withoutControls(value);
  return withoutControls(inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 4 }));
}

function errorText(error: unknown): string {
  const { stack, message } = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  const text = typeof stack === "string" ? stack : message;
  if (typeof text !== "string") return "";
  return text
    .split("\n")
    .map((line) => `    ${withoutControls(line)}`)
    .join("\n");
}

/** What others sent must not steer the terminal. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ");
}
