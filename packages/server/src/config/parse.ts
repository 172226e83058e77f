import { type Document, isMap, isPair, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { ConfigError, type ConfigProblem } from "./config-error.js";

/** A key path into the file. */
export type KeyPath = readonly (string | number)[];

/** A parsed file: its plain value, and where in the text each part of it stands. */
export interface ParsedFile {
  readonly value: unknown;
  /** A problem at the value of a path, or at a key of the map there. */
  problem(path: KeyPath, message: string, key?: string): ConfigProblem;
}

/**
 * Parses YAML, JSON or JSONC (chosen by the file's name).
 * Throws ConfigError for text that is none, for duplicate keys, and for anything but a map at the top.
 */
export function parseConfig(text: string, file: string): ParsedFile {
  const lineCounter = new LineCounter();
  const source = /\.jsonc?$/i.test(file) ? blankComments(text) : text;
  const document = parseSource(source, file, lineCounter);

  const at = (offset: number | undefined) => {
    if (offset === undefined) return {};
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  const problem: ParsedFile["problem"] = (path, message, key) => ({
    file,
    ...at(offsetOf(document, path, key)),
    path: pathName(key === undefined ? path : [...path, key]),
    message,
  });

  const [error] = document.errors;
  if (error !== undefined) {
    const message = error.code === "DUPLICATE_KEY" ? "the key is there twice" : `cannot be read: ${error.message}`;
    throw new ConfigError([{ file, ...at(error.pos[0]), path: "", message }]);
  }
  const value = toPlain(document, file) ?? {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new ConfigError([
      { file, line: 1, column: 1, path: "", message: "must be a map of keys, such as `server:`" },
    ]);
  }
  return { value, problem };
}

/** `models[0].id`, as people write it. */
export function pathName(path: KeyPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    const word = /^[\w-]+$/.test(part) ? part : JSON.stringify(part);
    return text === "" ? word : `${text}.${word}`;
  }, "");
}

function parseSource(source: string, file: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(source, { lineCounter, prettyErrors: false, stringKeys: true, logLevel: "error" });
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function toPlain(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): ConfigError {
  const message = `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new ConfigError([{ file, path: "", message }], { cause });
}

/** Where the value of the path starts, else the nearest thing round it that is there. */
function offsetOf(document: Document, path: KeyPath, key: string | undefined): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = (length === 0 ? document.contents : document.getIn(path.slice(0, length), true)) as Node | undefined;
    if (node === undefined || node === null) continue;
    if (key !== undefined && length === path.length && isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key);
      const keyNode = pair?.key;
      if (isScalar(keyNode) && keyNode.range) return keyNode.range[0];
    }
    if (node.range) return node.range[0];
  }
  return undefined;
}

/** JSON is YAML but for its comments; blanks in their place keep every position. */
function blankComments(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) =>
    part.startsWith("/") ? part.replaceAll(/[^\n]/g, " ") : part,
  );
}
