import { structuredPatch } from "diff";

/** A line diff: unified hunks without file headers, and what they count. */
export interface LineDiff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/** Beyond this many changed lines the search for the smallest diff costs too much; then one plain hunk is made. */
const maximumEditLength = 400;
const contextLines = 3;

/** Compares two texts with line feeds only. */
export function lineDiff(before: string, after: string): LineDiff {
  if (before === after) return { text: "", added: 0, removed: 0 };
  const patch = structuredPatch("", "", before, after, undefined, undefined, {
    context: contextLines,
    maxEditLength: maximumEditLength,
  });
  const hunks = patch?.hunks ?? [plainHunk(before, after)];
  let added = 0;
  let removed = 0;
  const lines: string[] = [];
  for (const hunk of hunks) {
    lines.push(`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`);
    for (const line of hunk.lines) {
      if (line.startsWith("+")) added += 1;
      else if (line.startsWith("-")) removed += 1;
      lines.push(line);
    }
  }
  return { text: lines.join("\n"), added, removed };
}

function plainHunk(before: string, after: string) {
  const old = linesOf(before);
  const now = linesOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const removed = old.slice(start, old.length - end);
  const added = now.slice(start, now.length - end);
  return {
    oldStart: start + 1,
    oldLines: removed.length,
    newStart: start + 1,
    newLines: added.length,
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}
