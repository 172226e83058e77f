/** Which part of a file is shown. */
export interface LineRange {
  /** 1-based, inclusive. Null when only the distance from the end is known. */
  readonly first: number | null;
  readonly last: number | null;
}

/** The lines asked for, and how they lie in the file. */
export interface Excerpt {
  readonly text: string;
  readonly totalLines: number;
  readonly range: LineRange | null;
  /** The range begins behind the last line. */
  readonly pastEnd?: boolean;
}

/** A window of lines as the model asks for it. */
export interface Window {
  /** 1-based; negative counts from the end. */
  readonly offset?: number;
  readonly limit?: number;
}

/**
 * Brings a read answer to the window that was asked for. Clients may have cut already (`rangeApplied`, or fewer lines
 * than the file has); one that did not, as with an offset behind the end, returns the whole file, and then the
 * window is cut here.
 */
export function excerpt(content: string, clientTotal: number, applied: boolean, window: Window): Excerpt {
  const lines = content.split("\n");
  const asked = window.offset !== undefined || window.limit !== undefined;
  if (!asked) return { text: content, totalLines: Math.max(clientTotal, countOf(lines)), range: null };
  if (applied || countOf(lines) < clientTotal - 1) return clientCut(lines, content, clientTotal, window);

  const total = countOf(lines);
  const offset = window.offset ?? 1;
  const start = offset > 0 ? offset - 1 : Math.max(0, total + offset);
  if (start >= total && total > 0) return { text: "", totalLines: total, range: null, pastEnd: true };
  const end = Math.min(total, start + (window.limit ?? total));
  if (start === 0 && end === total) return { text: content, totalLines: total, range: null };
  return { text: lines.slice(start, end).join("\n"), totalLines: total, range: { first: start + 1, last: end } };
}

function clientCut(lines: readonly string[], content: string, total: number, window: Window): Excerpt {
  const count = countOf(lines);
  const offset = window.offset ?? 1;
  if (offset < 0) return { text: content, totalLines: total, range: { first: null, last: null } };
  return { text: content, totalLines: total, range: { first: offset, last: offset + Math.max(count, 1) - 1 } };
}

function countOf(lines: readonly string[]): number {
  return lines[lines.length - 1] === "" ? lines.length - 1 : lines.length;
}
