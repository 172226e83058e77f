import type { ToolCall } from "@keyturn/protocol/agent";

/** A tool call as a person reads it. */
export interface ToolWords {
  /** `shell`, `edit`, `read`. */
  readonly name: string;
  /** What it is about: a path, a command, a pattern. */
  readonly subject: string;
}

/** What became of a tool call. */
export interface ToolEnd {
  readonly ok: boolean;
  /** One line; may be empty. */
  readonly summary: string;
  readonly diff?: string;
}

const subjects = ["command", "path", "pattern", "globPattern", "description", "url", "query", "name", "prompt"];

/** Names a tool call. */
export function toolWords({ tool }: ToolCall): ToolWords {
  const name = (tool.case ?? "tool").replace(/ToolCall$/, "");
  const args = fieldsOf(fieldsOf(tool.value).args);
  const subject = subjects.map((field) => args[field]).find((value) => typeof value === "string" && value !== "");
  return { name, subject: oneLine(typeof subject === "string" ? subject : "") };
}

/** Tells how a tool call ended, from its result. */
export function toolEnd({ tool }: ToolCall): ToolEnd {
  const result = fieldsOf(fieldsOf(fieldsOf(tool.value).result).result);
  const value = fieldsOf(result.value);
  if (tool.case === "editToolCall" && result.case === "success") {
    const diff = typeof value.diffString === "string" ? value.diffString : "";
    return { ok: true, summary: `+${Number(value.linesAdded ?? 0)} -${Number(value.linesRemoved ?? 0)}`, diff };
  }
  if (result.case === "success") return { ok: true, summary: "" };
  if (tool.case === "shellToolCall" && result.case === "failure") {
    return { ok: false, summary: `exit code ${Number(value.exitCode ?? 0)}` };
  }
  const reason = [value.error, value.errorMessage, value.reason, value.message].find((one) => typeof one === "string");
  const kind =
    typeof result.case === "string" ? result.case.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : "";
  return { ok: false, summary: [kind, typeof reason === "string" ? oneLine(reason) : ""].filter(Boolean).join(": ") };
}

/** The first line, not too long for a terminal. */
export function oneLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > 160 ? `${line.slice(0, 157)}...` : line;
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { readonly [name: string]: unknown }) : {};
}
