/** The number of bytes of a text in UTF-8; a lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isPair(text, index)) {
      bytes += 2;
      index += 1;
    } else bytes += 2;
  }
  return bytes;
}

/** The longest prefix of at most `maximum` bytes that splits no character. */
export function headOf(text: string, maximum: number): string {
  if (text.length * 3 <= maximum) return text;
  let bytes = 0;
  let index = 0;
  while (index < text.length) {
    const units = isPair(text, index) ? 2 : 1;
    bytes += units === 2 ? 4 : unitBytes(text.charCodeAt(index));
    if (bytes > maximum) break;
    index += units;
  }
  return text.slice(0, index);
}

/** The longest suffix of at most `maximum` bytes that splits no character. */
export function tailOf(text: string, maximum: number): string {
  if (text.length * 3 <= maximum) return text;
  let bytes = 0;
  let index = text.length;
  while (index > 0) {
    const units = index >= 2 && isPair(text, index - 2) ? 2 : 1;
    bytes += units === 2 ? 4 : unitBytes(text.charCodeAt(index - 1));
    if (bytes > maximum) break;
    index -= units;
  }
  return text.slice(index);
}

/** A text that was made to fit. */
export interface Fitted {
  readonly text: string;
  readonly cut: boolean;
}

/** The one wording for cuts, so that models and people recognise it. */
export function cutNotice(what: string, limit: number, shown: number, total: number): string {
  return `[truncated: ${what} result exceeded ${limit} bytes; showing ${shown} of ${total} bytes]`;
}

/** Keeps the beginning of a text within a bound and says so at its end. */
export function fitHead(text: string, limit: number, what: string): Fitted {
  const head = headOf(text, limit);
  if (head.length === text.length) return { text, cut: false };
  return { text: `${head}\n${cutNotice(what, limit, utf8Length(head), utf8Length(text))}`, cut: true };
}

/** Keeps the beginning and the end of a text within a bound, with the notice between them. */
export function fitMiddle(text: string, limit: number, what: string): Fitted {
  const total = utf8Length(text);
  if (total <= limit) return { text, cut: false };
  const tail = tailOf(text, Math.floor(limit / 2));
  const head = headOf(text, limit - utf8Length(tail));
  const shown = utf8Length(head) + utf8Length(tail);
  return { text: `${head}\n${cutNotice(what, limit, shown, total)}\n${tail}`, cut: true };
}

/** Lines that fit a bound together, from the first on; a line that alone is too long is cut. */
export function fitLines(lines: readonly string[], limit: number): { lines: string[]; bytes: number } {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = utf8Length(line) + 1;
    if (bytes + size > limit) break;
    kept.push(line);
    bytes += size;
  }
  if (kept.length === 0 && lines[0] !== undefined) {
    kept.push(headOf(lines[0], limit));
    bytes = utf8Length(kept[0] ?? "");
  }
  return { lines: kept, bytes };
}

/** Line ends as models see them: LF only. */
export function withLineFeeds(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/** How often a line feed occurs. */
export function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** The number of lines a person would count: a final newline ends a line, it does not open one. */
export function countLines(text: string): number {
  if (text === "") return 0;
  return countLineFeeds(text) + (text.endsWith("\n") ? 0 : 1);
}

/** `1 file`, `2 files`, `2 entries`, `2 matches`. */
export function plural(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  if (/[^aeiou]y$/.test(noun)) return `${count} ${noun.slice(0, -1)}ies`;
  return `${count} ${noun}${/(?:s|x|ch|sh)$/.test(noun) ? "es" : "s"}`;
}

function isPair(text: string, index: number): boolean {
  const high = text.charCodeAt(index);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}

function unitBytes(unit: number): number {
  return unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
}
