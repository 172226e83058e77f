import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, messageOf } from "./errors.js";
import { limits } from "./limits.js";

/** One program that is run at an event. */
export interface HookEntry {
  readonly command: string;
  /** The folder that holds `.cursor` or `.keyturn`: where the program runs. */
  readonly root: string;
  readonly timeoutMs: number;
  readonly matcher?: RegExp;
  /** A failure of the program denies. */
  readonly failClosed: boolean;
}

/** Reads hook files. Throws an error that names the file when one is broken: a lost hook could be a prohibition. */
export async function readHooks(files: readonly string[]): Promise<Map<string, HookEntry[]>> {
  const hooks = new Map<string, HookEntry[]>();
  for (const file of files) {
    const root = dirname(dirname(file));
    for (const [event, entries] of Object.entries(await readFileHooks(file))) {
      if (!Array.isArray(entries)) throw new Error(`${file}: the hooks of ${event} are not a list.`);
      const read = entries.map((entry: unknown) => entryOf(entry, root, `${file}: a hook of ${event}`));
      hooks.set(event, [...(hooks.get(event) ?? []), ...read]);
    }
  }
  return hooks;
}

async function readFileHooks(file: string): Promise<{ [event: string]: unknown }> {
  try {
    const content = JSON.parse(await readFile(file, "utf8")) as { hooks?: unknown } | null;
    const hooks = content?.hooks;
    return typeof hooks === "object" && hooks !== null ? (hooks as { [event: string]: unknown }) : {};
  } catch (cause) {
    if (codeOf(cause) === "ENOENT" || codeOf(cause) === "ENOTDIR") return {};
    throw new Error(`The hooks in ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function entryOf(entry: unknown, root: string, place: string): HookEntry {
  const { command, timeout, matcher, failClosed } = (entry ?? {}) as { [name: string]: unknown };
  if (typeof command !== "string" || command === "") throw new Error(`${place} has no command.`);
  const timeoutMs = typeof timeout === "number" && timeout > 0 ? timeout * 1000 : limits.hookTimeoutMs;
  const base = { command, root, timeoutMs, failClosed: failClosed === true };
  if (typeof matcher !== "string" || matcher === "" || matcher === "*") return base;
  try {
    return { ...base, matcher: new RegExp(matcher) };
  } catch (cause) {
    throw new Error(`${place} has a broken matcher.`, { cause });
  }
}
