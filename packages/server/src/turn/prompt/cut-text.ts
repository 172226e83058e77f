import { promptLimits, type TextLimits } from "./prompt-limits.js";

/** What did not fit: how many, and the first of their names. */
export type LeftOut = { readonly count: number; readonly names: readonly string[] };

/** Items within their bounds, in the order given, and what was left out of them. */
export interface Fitted<Item> {
  readonly kept: readonly Item[];
  readonly leftOut: LeftOut;
}

/** Less room than this is not worth the beginning of a text: the text is left out instead. */
const smallestCut = 200;

/** At most `limit` characters of a text, the notice included that says it was cut. Splits no surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const room = limit - notice(limit, text.length).length;
  if (room <= 0) return headOf(text, limit);
  const head = headOf(text, room);
  return head + notice(head.length, text.length);
}

/** A text as one line of bounded length: for paths, names and labels. */
export function oneLine(text: string, limit: number = promptLimits.line): string {
  const line = headOf(text, 2 * limit).replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ");
  return line.length <= limit ? line : `${headOf(line, limit - 1)}…`;
}

/** The first entries of a list as single lines, without empty ones. */
export function lineList(texts: readonly string[], limit: number = promptLimits.line): string[] {
  const { count, total } = promptLimits.lists;
  let size = 0;
  return texts
    .filter((text) => text !== "")
    .slice(0, count)
    .map((text) => oneLine(text, limit))
    .filter((line) => {
      size += line.length;
      return size <= total;
    });
}

/** The same, with a last entry that says how many were left off. Not for paths that are used as paths. */
export function notedList(texts: readonly string[]): string[] {
  const list = lineList(texts);
  const left = texts.filter((text) => text !== "").length - list.length;
  return left > 0 ? [...list, `[and ${left} more]`] : list;
}

/**
 * Bounds the texts of a list one by one and together, and all else in the items together, by the same total. Earlier
 * items have the first claim on the room.
 */
export function fitTexts<Item extends { readonly text: string }>(
  items: readonly Item[],
  limits: TextLimits,
  nameOf: (item: Item) => string,
): Fitted<Item> {
  const kept: Item[] = [];
  const names: string[] = [];
  let left = 0;
  let room = limits.total;
  let roomForRest = limits.total;
  for (const item of items) {
    const size = Math.min(item.text.length, limits.each);
    const rest = JSON.stringify({ ...item, text: "" }).length;
    const fits = kept.length < limits.count && rest <= roomForRest && (size <= room || room >= smallestCut);
    if (fits) {
      roomForRest -= rest;
      const text = cutText(item.text, Math.min(limits.each, room));
      room -= text.length;
      kept.push({ ...item, text });
    } else {
      left += 1;
      if (names.length < promptLimits.leftOutNames) names.push(oneLine(nameOf(item)));
    }
  }
  return { kept, leftOut: { count: left, names } };
}

/** Says what was left out, or nothing when all is there. */
export function leftOutNotice(leftOut: LeftOut, what: string): string {
  if (leftOut.count === 0) return "";
  const unnamed = leftOut.count - leftOut.names.length;
  const more = unnamed > 0 ? ` and ${unnamed} more` : "";
  return `[left out for size: ${leftOut.count} ${what}: ${leftOut.names.join(", ")}${more}]`;
}

/** Orders by a key, by code units, so that no machine's language settings have a say. Equal keys keep their order. */
export function sortedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    .map(({ item }) => item);
}

function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const next = text.charCodeAt(length);
  const splits = last >= 0xd800 && last <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
  return text.slice(0, splits ? length - 1 : length);
}

function notice(shown: number, total: number): string {
  return `\n[cut: the first ${shown} of ${total} characters are shown]`;
}
