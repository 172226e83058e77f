import { create } from "@bufbuild/protobuf";
import {
  type GrepContentMatch,
  type GrepSuccess,
  type GrepUnionResult,
  GrepUnionResultSchema,
} from "@keyturn/protocol/agent";
import { limits } from "./limits.js";
import { presentPath } from "./paths.js";
import { cutNotice, fitLines, headOf, utf8Length } from "./text.js";

/** How much of an answer the model asked for. */
export interface GrepWindow {
  readonly headLimit?: number;
  readonly offset?: number;
}

/** A bounded search answer: for the model and for the ToolCall. */
export interface GrepPart {
  readonly text: string;
  readonly results: { readonly [root: string]: GrepUnionResult };
  readonly found: boolean;
}

interface Entry {
  readonly root: string;
  readonly file: string;
  readonly matchIndex: number;
  /** Formats the line; only done for what is shown. */
  readonly line: () => string;
}

/**
 * Bounds a search answer (I-59). The client applies neither `head_limit` nor `offset`, so both are applied here, to lines of
 * output as `head` would; a client that says it applied them is believed.
 */
export function boundGrep(success: GrepSuccess, window: GrepWindow, workspace: string | null): GrepPart {
  const unions = Object.entries(success.workspaceResults).sort(([one], [other]) => (one < other ? -1 : 1));
  const entries = unions.flatMap(([root, { result }]) => entriesOf(root, result, workspace));
  const parts = unions.map(([, { result }]) => result.value);
  const applied = parts.find((part) => part?.offsetApplied !== undefined || part?.headLimitApplied !== undefined);
  const offset = applied?.offsetApplied === undefined ? (window.offset ?? 0) : 0;
  const asked =
    applied?.headLimitApplied === undefined ? window.headLimit || Number.POSITIVE_INFINITY : Number.POSITIVE_INFINITY;
  const listsFiles = unions.some(([, { result }]) => result.case === "files" || result.case === "count");
  const most = listsFiles ? limits.grepFiles : limits.grepMatches;
  const wanted = entries.slice(offset, offset + Math.min(asked, most));
  const lines = wanted.map((entry) => entry.line());
  const kept = fitLines(lines, limits.grepBytes);
  const shown = wanted.slice(0, kept.lines.length);
  const end = offset + shown.length;

  const notices = cutFiles(unions, shown, workspace);
  if (shown.length < wanted.length) {
    const total = lines.reduce((sum, line) => sum + utf8Length(line) + 1, 0);
    notices.push(cutNotice("Grep", limits.grepBytes, kept.bytes, total));
  }
  if (offset > 0 && offset >= entries.length && entries.length > 0) {
    notices.push(`[offset ${offset} is behind the last of ${entries.length} entries]`);
  } else if (end < entries.length) {
    notices.push(`[showing entries ${offset + 1}-${end} of ${entries.length}; go on with offset ${end}]`);
  }
  if (parts.some((part) => part?.clientTruncated || part?.ripgrepTruncated)) {
    notices.push("[the client stopped searching early; there may be more matches]");
  }
  return {
    text: [...kept.lines, ...notices].join("\n"),
    results: keep(success, shown, end < entries.length),
    found: entries.length > 0,
  };
}

function entriesOf(root: string, result: GrepUnionResult["result"], workspace: string | null): Entry[] {
  switch (result.case) {
    case "files":
      return result.value.files.map((file, matchIndex) => {
        return { root, file, matchIndex, line: () => presentPath(root, file, workspace) };
      });
    case "count":
      return result.value.counts.map(({ file, count }, matchIndex) => {
        return { root, file, matchIndex, line: () => `${presentPath(root, file, workspace)}:${count}` };
      });
    case "content":
      return result.value.matches.flatMap(({ file, matches }) =>
        matches.slice(0, limits.grepMatchesPerFile).map((match, matchIndex) => {
          const separator = match.isContextLine ? "-" : ":";
          const place = `${presentPath(root, file, workspace)}${separator}${match.lineNumber}${separator}`;
          return { root, file, matchIndex, line: () => place + cutLine(match) };
        }),
      );
    default:
      return [];
  }
}

function cutLine({ content, contentTruncated }: GrepContentMatch): string {
  const line = content.replace(/\r?\n$/, "");
  const head = headOf(line, limits.grepLineBytes);
  if (head.length < line.length) return `${head}[line cut: ${head.length} of ${line.length} characters]`;
  return contentTruncated ? `${line}[line cut by the client]` : line;
}

/** Notices for shown files of which lines were left out. */
function cutFiles(
  unions: readonly (readonly [string, GrepUnionResult])[],
  shown: readonly Entry[],
  workspace: string | null,
): string[] {
  const seen = new Set(shown.map(({ root, file }) => `${root}\0${file}`));
  return unions.flatMap(([root, { result }]) => {
    if (result.case !== "content") return [];
    const cut = result.value.matches.filter(({ file, matches }) => {
      return matches.length > limits.grepMatchesPerFile && seen.has(`${root}\0${file}`);
    });
    return cut.map(({ file, matches }) => {
      return `[${presentPath(root, file, workspace)}: showing ${limits.grepMatchesPerFile} of ${matches.length} lines]`;
    });
  });
}

/** The same answer with only the entries that are shown, totals as the client counted them. */
function keep(success: GrepSuccess, shown: readonly Entry[], cut: boolean): { [root: string]: GrepUnionResult } {
  const wanted = new Map<string, Map<string, Set<number>>>();
  for (const { root, file, matchIndex } of shown) {
    const files = wanted.get(root) ?? new Map<string, Set<number>>();
    wanted.set(root, files.set(file, (files.get(file) ?? new Set<number>()).add(matchIndex)));
  }
  const results: { [root: string]: GrepUnionResult } = {};
  for (const [root, union] of Object.entries(success.workspaceResults)) {
    results[root] = keepOf(union, wanted.get(root) ?? new Map(), cut);
  }
  return results;
}

function keepOf(
  { result }: GrepUnionResult,
  files: ReadonlyMap<string, ReadonlySet<number>>,
  cut: boolean,
): GrepUnionResult {
  if (result.case === undefined) return create(GrepUnionResultSchema);
  const isShown = (file: string, index: number) => files.get(file)?.has(index) === true;
  const clientTruncated = result.value.clientTruncated || cut;
  const { ripgrepTruncated, headLimitApplied, offsetApplied } = result.value;
  const flags = { clientTruncated, ripgrepTruncated, headLimitApplied, offsetApplied };
  switch (result.case) {
    case "files": {
      const { files: names, totalFiles } = result.value;
      const value = { ...flags, totalFiles, files: names.filter(isShown) };
      return create(GrepUnionResultSchema, { result: { case: "files", value } });
    }
    case "count": {
      const { counts, totalFiles, totalMatches } = result.value;
      const kept = counts.filter(({ file }, index) => isShown(file, index));
      return create(GrepUnionResultSchema, {
        result: { case: "count", value: { ...flags, totalFiles, totalMatches, counts: kept } },
      });
    }
    case "content": {
      const { totalLines, totalMatchedLines } = result.value;
      const matches = result.value.matches.flatMap(({ file, matches: lines }) => {
        const kept = lines.filter((_, index) => isShown(file, index)).map(boundMatch);
        return kept.length > 0 ? [{ file, matches: kept }] : [];
      });
      return create(GrepUnionResultSchema, {
        result: { case: "content", value: { ...flags, totalLines, totalMatchedLines, matches } },
      });
    }
  }
}

function boundMatch(match: GrepContentMatch) {
  const { lineNumber, isContextLine } = match;
  const content = headOf(match.content, limits.grepLineBytes);
  const contentTruncated = match.contentTruncated || content.length < match.content.length;
  return { lineNumber, isContextLine, content, contentTruncated };
}
