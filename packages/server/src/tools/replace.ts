import { contentOf, type FileText, withEnds } from "./file-text.js";
import { countLineFeeds } from "./text.js";

/** How a replacement in a file went. */
export type Replacement =
  | {
      readonly kind: "replaced";
      readonly count: number;
      /** The new text with line feeds only. */
      readonly text: string;
      /** The new content as it goes to the disk. */
      readonly content: string;
    }
  | { readonly kind: "not-found"; readonly hint: string }
  | { readonly kind: "not-unique"; readonly count: number; readonly lines: readonly number[] };

const linesNamed = 5;

/**
 * Replaces literal text. Line ends of both strings are matched as line feeds; what is written has the file's own: outside
 * the replaced passages every byte stays, inside them new lines end like the passage's first line.
 */
export function replaceIn(file: FileText, oldString: string, newString: string, all: boolean): Replacement {
  const from = oldString.replaceAll("\r\n", "\n");
  const to = newString.replaceAll("\r\n", "\n");
  const places = occurrences(file.text, from);
  if (places.length === 0) return { kind: "not-found", hint: missHint(file.text, from, to) };
  if (places.length > 1 && !all) {
    return {
      kind: "not-unique",
      count: places.length,
      lines: places.slice(0, linesNamed).map((at) => lineAt(file.text, at)),
    };
  }
  const text: string[] = [];
  const content: string[] = [];
  const copy = (passage: string, line: number) => {
    text.push(passage);
    content.push(withEnds(passage, file.ends, line));
  };
  let done = 0;
  let line = 0;
  for (const place of places) {
    const before = file.text.slice(done, place);
    copy(before, line);
    line += countLineFeeds(before);
    text.push(to);
    content.push(endsLikeLine(to, file, line));
    line += countLineFeeds(from);
    done = place + from.length;
  }
  copy(file.text.slice(done), line);
  const changed = text.join("");
  return {
    kind: "replaced",
    count: places.length,
    text: changed,
    content: contentOf({ text: "", mark: file.mark, ends: "lf" }) + content.join(""),
  };
}

function endsLikeLine(passage: string, file: FileText, line: number): string {
  if (typeof file.ends === "string") return withEnds(passage, file.ends, 0);
  // The last line of a file may have no end of its own: it follows the line before.
  const guide = line < countLineFeeds(file.text) ? line : line - 1;
  return withEnds(passage, file.ends.has(guide) ? "crlf" : "lf", 0);
}

function occurrences(text: string, part: string): number[] {
  const places: number[] = [];
  if (part === "") return places;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

function lineAt(text: string, at: number): number {
  return countLineFeeds(text.slice(0, at)) + 1;
}

function missHint(text: string, from: string, to: string): string {
  const similar = similarLine(text, from);
  if (similar !== null) {
    return `A passage that differs only in white space begins at line ${similar}; copy it exactly, indentation included.`;
  }
  if (to !== "" && text.includes(to)) return "new_string is in the file already; perhaps the edit was made before.";
  return "Read the file again and copy the passage exactly as it is now.";
}

/** The line at which the same lines begin when white space at their ends is left out of account. */
function similarLine(text: string, from: string): number | null {
  const wanted = from.split("\n").map((line) => line.trim());
  while (wanted[0] === "") wanted.shift();
  while (wanted[wanted.length - 1] === "") wanted.pop();
  const first = wanted[0];
  if (first === undefined) return null;
  const lines = text.split("\n").map((line) => line.trim());
  for (let at = lines.indexOf(first); at >= 0; at = lines.indexOf(first, at + 1)) {
    if (wanted.every((line, index) => lines[at + index] === line)) return at + 1;
  }
  return null;
}
