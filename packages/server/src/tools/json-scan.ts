/** Where a text stops being one JSON value. */
export interface JsonFault {
  /** Index of the first character that does not fit; the length of the text when it just ends. */
  readonly position: number;
  readonly kind: "ended" | "unexpected" | "control" | "escape" | "deep" | "more";
}

const literals = ["true", "false", "null"] as const;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * Finds the first place where a text is not one JSON value, null when it is one. Unlike the engine's parser it says the
 * position in every case and in words that do not change with the engine, and it bounds the depth.
 */
export function scanJson(text: string, maximumDepth: number): JsonFault | null {
  const open: ("{" | "[")[] = [];
  let at = skipSpace(text, 0);
  // What may come next: a value, a key (`}` too in a fresh object), a comma or the end of what is open.
  let expect: "value" | "value-or-end" | "key" | "key-or-end" | "next" = "value";
  for (;;) {
    const character = text[at];
    if (expect === "next" && open.length === 0) {
      return character === undefined ? null : { position: at, kind: "more" };
    }
    if (character === undefined) return { position: at, kind: "ended" };
    const inside = open[open.length - 1];
    const closes = inside === "{" ? "}" : "]";
    if (character === closes && inside !== undefined && expect !== "value" && expect !== "key") {
      open.pop();
      at += 1;
      expect = "next";
    } else if (expect === "next") {
      if (character !== ",") return { position: at, kind: "unexpected" };
      at += 1;
      expect = inside === "{" ? "key" : "value";
    } else if (expect === "key" || expect === "key-or-end") {
      const end = scanString(text, at);
      if (typeof end !== "number") return end;
      at = skipSpace(text, end);
      if (text[at] !== ":") return { position: at, kind: text[at] === undefined ? "ended" : "unexpected" };
      at += 1;
      expect = "value";
    } else if (character === "{" || character === "[") {
      if (open.length >= maximumDepth) return { position: at, kind: "deep" };
      open.push(character);
      at += 1;
      expect = character === "{" ? "key-or-end" : "value-or-end";
    } else {
      const end = scanScalar(text, at);
      if (typeof end !== "number") return end;
      at = end;
      expect = "next";
    }
    at = skipSpace(text, at);
  }
}

function scanScalar(text: string, at: number): number | JsonFault {
  if (text[at] === '"') return scanString(text, at);
  for (const literal of literals) {
    if (text.startsWith(literal, at)) return at + literal.length;
    if (at + literal.length > text.length && literal.startsWith(text.slice(at))) {
      return { position: text.length, kind: "ended" };
    }
  }
  number.lastIndex = at;
  const match = number.exec(text);
  if (match) return at + match[0].length;
  return text.slice(at) === "-" ? { position: text.length, kind: "ended" } : { position: at, kind: "unexpected" };
}

function scanString(text: string, start: number): number | JsonFault {
  if (text[start] !== '"') return { position: start, kind: "unexpected" };
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return at + 1;
    if (unit < 0x20) return { position: at, kind: "control" };
    if (unit !== 0x5c) continue;
    const escape = text[at + 1];
    if (escape === undefined) break;
    if (escape === "u") {
      const digits = text.slice(at + 2, at + 6);
      if (!/^[0-9a-fA-F]*$/.test(digits)) return { position: at, kind: "escape" };
      if (digits.length < 4) break;
      at += 5;
    } else if (`"\\/bfnrt`.includes(escape)) at += 1;
    else return { position: at, kind: "escape" };
  }
  return { position: text.length, kind: "ended" };
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at += 1;
  return at;
}
