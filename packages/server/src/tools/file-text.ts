import { countLineFeeds, utf8Length } from "./text.js";

/*
 * A client reads text with line feeds only and does not say which line ends the file has. The rule here: what the
 * client hides it hides from the content, not from the size, so the difference between the file's size and the
 * content's bytes tells what is missing.
 *   0                    nothing hidden, the content is the file
 *   one byte a line feed every line ends with CRLF
 *   3 more               a byte order mark was taken off as well
 *   fewer                some lines end with CRLF: which ones must be asked (a search for `\r$`), and the number found must
 *                        be the number missing, or the edit is refused
 * A size of 0 with content, or one that fits none of these, proves nothing: the content is then taken as it is. Content
 * with replacement characters whose size differs was no UTF-8: writing it back would destroy bytes, so it is refused.
 */

/** Line ends of a file. Mixed: the 0-based numbers of the lines that end with CRLF. */
export type LineEnds = "lf" | "crlf" | ReadonlySet<number>;

/** A text file opened for an edit: its text with line feeds only, and what it takes to write it back unchanged. */
export interface FileText {
  readonly text: string;
  readonly mark: boolean;
  readonly ends: LineEnds;
}

/** What a read answer tells about the file. */
export type OpenedFile =
  | { readonly kind: "open"; readonly file: FileText }
  /** Some lines, not all, end with CRLF; `found` tells which. */
  | { readonly kind: "ask-line-ends"; readonly missing: number; resolve(crlfLines: readonly number[]): FileText | null }
  | { readonly kind: "refused"; readonly reason: string };

const mark = "\uFEFF";

/** Works out a file's byte order mark and line ends from what the client returned. */
export function openFile(content: string, fileSize: number): OpenedFile {
  const marked = content.startsWith(mark);
  const text = marked ? content.slice(1) : content;
  const bytes = utf8Length(content);
  if (text.includes("\r\n")) return { kind: "open", file: readEnds(text, marked) };
  const open = (hidden: boolean, ends: LineEnds): OpenedFile => {
    return { kind: "open", file: { text, mark: marked || hidden, ends } };
  };
  const missing = fileSize - bytes;
  if (missing === 0 || fileSize === 0) return open(false, "lf");
  const lines = countLineFeeds(text);
  if (lines > 0 && missing === lines) return open(false, "crlf");
  if (missing === 3 && !marked && lines < 3) return open(true, "lf");
  if (lines > 0 && missing === lines + 3 && !marked) return open(true, "crlf");
  if (content.includes("\uFFFD") || isUtf16Size(content, fileSize)) {
    return {
      kind: "refused",
      reason: "it is not UTF-8 text, and writing it back would change bytes that were not edited",
    };
  }
  if (missing > 0 && missing < lines) {
    return {
      kind: "ask-line-ends",
      missing,
      resolve(crlfLines) {
        const ends = new Set(crlfLines.filter((line) => line >= 0 && line < lines));
        if (ends.size === missing) return { text, mark: marked, ends };
        // The same three bytes may be a hidden byte order mark.
        return missing === 3 && ends.size === 0 && !marked ? { text, mark: true, ends: "lf" } : null;
      },
    };
  }
  return open(false, "lf");
}

/** The file's characters as they stand on the client's disk. */
export function contentOf(file: FileText): string {
  return (file.mark ? mark : "") + withEnds(file.text, file.ends, 0);
}

/** Gives a passage the line ends of the lines it occupies, counted from `firstLine`. */
export function withEnds(passage: string, ends: LineEnds, firstLine: number): string {
  if (ends === "lf") return passage;
  if (ends === "crlf") return passage.replaceAll("\n", "\r\n");
  let line = firstLine;
  return passage.replaceAll("\n", () => (ends.has(line++) ? "\r\n" : "\n"));
}

/** True when two contents are the same text apart from line ends and a byte order mark. */
export function isSameText(one: string, other: string): boolean {
  return one === other || plain(one) === plain(other);
}

/** A content as models see it: no byte order mark, line feeds only. */
export function plain(content: string): string {
  const text = content.startsWith(mark) ? content.slice(1) : content;
  return text.replaceAll("\r\n", "\n");
}

function readEnds(text: string, marked: boolean): FileText {
  const crlf = new Set<number>();
  let line = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] === "\r") crlf.add(line);
    line += 1;
  }
  return { text: text.replaceAll("\r\n", "\n"), mark: marked, ends: crlf.size === line ? "crlf" : crlf };
}

/** Two bytes a character, with or without the mark: the client decoded UTF-16. */
function isUtf16Size(content: string, fileSize: number): boolean {
  return content.length > 2 && (fileSize === content.length * 2 || fileSize === content.length * 2 + 2);
}
