import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ConfigProblem } from "./config-error.js";
import type { KeyPath, ParsedFile } from "./parse.js";

/** A value with its references replaced. */
export interface Expanded {
  readonly value: unknown;
  readonly problems: readonly ConfigProblem[];
  /** Absolute paths of the files that were read. */
  readonly files: readonly string[];
  /** Paths, as JSON text, of the values that are one reference and nothing else: they may stand for numbers. */
  readonly wholeReferences: ReadonlySet<string>;
}

/** What references are looked up in. */
export interface ReferenceSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path that `{file:…}` is relative to. */
  readonly folder: string;
}

const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\{file:([^}]+)\}/g;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `{file:path}` in every text of the file; `$${` gives a plain `${`.
 * What a reference brings in is not looked at again. A file's text is trimmed. Never throws: what is missing is a problem.
 */
export async function expandReferences(parsed: ParsedFile, sources: ReferenceSources): Promise<Expanded> {
  const problems: ConfigProblem[] = [];
  const files = new Set<string>();
  const wholeReferences = new Set<string>();

  async function replacement(match: RegExpMatchArray, path: KeyPath): Promise<string> {
    const [whole, variable, fallback, file] = match;
    if (variable !== undefined) {
      const value = sources.environment[variable];
      // As in a shell, `:-` also stands in for an empty variable.
      if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
      if (value !== undefined) return value;
      problems.push(parsed.problem(path, `the environment variable ${variable} is not set`));
      return whole;
    }
    if (file === undefined) return "${";
    const absolute = resolve(sources.folder, file.trim());
    files.add(absolute);
    try {
      return (await readFile(absolute, "utf8")).trim();
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      problems.push(
        parsed.problem(path, `the file ${file.trim()} cannot be read${code === undefined ? "" : ` (${code})`}`),
      );
      return whole;
    }
  }

  async function expandText(text: string, path: KeyPath): Promise<string> {
    const parts: string[] = [];
    let end = 0;
    for (const match of text.matchAll(reference)) {
      parts.push(text.slice(end, match.index), await replacement(match, path));
      end = match.index + match[0].length;
      if (match[0] === text) wholeReferences.add(JSON.stringify(path));
    }
    return parts.length === 0 ? text : parts.join("") + text.slice(end);
  }

  async function expand(value: unknown, path: KeyPath): Promise<unknown> {
    if (typeof value === "string") return expandText(value, path);
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const [index, item] of value.entries()) items.push(await expand(item, [...path, index]));
      return items;
    }
    if (typeof value !== "object" || value === null) return value;
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(value)) entries.push([key, await expand(item, [...path, key])]);
    return Object.fromEntries(entries);
  }

  return { value: await expand(parsed.value, []), problems, files: [...files], wholeReferences };
}
