import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GrepUnionResultSchema } from "@keyturn/protocol/agent";
import { limits } from "./limits.js";

/** What a search answers with. */
export type GrepMode = "content" | "files_with_matches" | "count";

/** True for the modes that exist. */
export function isGrepMode(mode: string): mode is GrepMode {
  return mode === "content" || mode === "files_with_matches" || mode === "count";
}

interface Line {
  readonly lineNumber: number;
  readonly content: string;
  readonly contentTruncated: boolean;
  readonly isContextLine: boolean;
}

const cutMark = / \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]$/;

/**
 * Gathers what ripgrep prints. Only the entries of the window are kept (an entry is a line, a file or a count); the others
 * are counted, up to the point where searching on makes no sense any more.
 */
export class GrepCollector {
  readonly #mode: GrepMode;
  readonly #offset: number;
  readonly #headLimit: number | undefined;
  readonly #files = new Map<string, Line[]>();
  readonly #counts: { file: string; count: number }[] = [];
  readonly #seen = new Set<string>();
  #entries = 0;
  #matchedLines = 0;
  #matches = 0;
  #bytes = 0;
  #overflowed = false;

  constructor(mode: GrepMode, headLimit: number | undefined, offset: number | undefined) {
    this.#mode = mode;
    this.#headLimit = headLimit !== undefined && headLimit > 0 ? headLimit : undefined;
    this.#offset = Math.max(0, offset ?? 0);
  }

  get found(): boolean {
    return this.#entries > 0;
  }

  /** Takes one record of the output; false when nothing more is wanted. */
  take(record: string): boolean {
    if (this.#mode === "files_with_matches") this.#takeFile(record);
    else this.#takeLine(record);
    this.#overflowed = this.#bytes > limits.grepBytes || this.#entries >= 10 * limits.grepEntries;
    return !this.#overflowed;
  }

  /** What was found, in the form that the mode asks for; unset when nothing was. */
  result(): MessageInitShape<typeof GrepUnionResultSchema> {
    const kept = Math.min(this.#entries, this.#end) - Math.min(this.#offset, this.#entries);
    const flags = {
      clientTruncated: kept < this.#entries,
      ripgrepTruncated: this.#overflowed,
      ...(this.#headLimit === undefined ? {} : { headLimitApplied: this.#headLimit }),
      ...(this.#offset === 0 ? {} : { offsetApplied: this.#offset }),
    };
    if (this.#mode === "files_with_matches") {
      const value = { ...flags, files: [...this.#files.keys()], totalFiles: this.#entries };
      return { result: { case: "files", value } };
    }
    if (this.#mode === "count") {
      const value = { ...flags, counts: this.#counts, totalFiles: this.#entries, totalMatches: this.#matches };
      return { result: { case: "count", value } };
    }
    const matches = [...this.#files].map(([file, lines]) => ({ file, matches: lines }));
    const value = { ...flags, matches, totalLines: this.#entries, totalMatchedLines: this.#matchedLines };
    return { result: { case: "content", value } };
  }

  get #end(): number {
    return Math.min(this.#offset + (this.#headLimit ?? Number.POSITIVE_INFINITY), this.#offset + limits.grepEntries);
  }

  /** Counts an entry; true when it is one to keep. */
  #wants(bytes: number): boolean {
    const index = this.#entries++;
    if (index < this.#offset || index >= this.#end) return false;
    this.#bytes += bytes;
    return true;
  }

  #takeFile(file: string): void {
    if (file === "" || this.#seen.has(file)) return;
    if (this.#wants(file.length)) this.#files.set(file, []);
  }

  #takeLine(record: string): void {
    const end = record.indexOf("\0");
    if (end < 0) return;
    const file = record.slice(0, end);
    const rest = record.slice(end + 1);
    if (this.#mode === "count") {
      const count = Number(rest);
      this.#matches += count;
      if (this.#wants(file.length)) this.#counts.push({ file, count });
      return;
    }
    const numbered = /^(\d+)([:-])/.exec(rest);
    if (!numbered) return;
    const isContextLine = numbered[2] === "-";
    if (!isContextLine) this.#matchedLines += 1;
    if (!this.#wants(record.length)) return;
    const text = rest.slice(numbered[0].length).replace(/\r$/, "");
    const content = text.replace(cutMark, "").slice(0, limits.grepLineCharacters);
    const line = { lineNumber: Number(numbered[1]), content, contentTruncated: content !== text, isContextLine };
    const lines = this.#files.get(file);
    if (lines) lines.push(line);
    else this.#files.set(file, [line]);
  }
}
