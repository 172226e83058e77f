import { parse } from "yaml";

/** A Markdown file with a head of YAML between two lines of dashes. */
export interface FrontMatter {
  readonly fields: { readonly [name: string]: unknown };
  /** The head as it stands in the file. */
  readonly source: string;
  readonly body: string;
}

/**
 * Parts a file's head from its text. Heads that are no YAML (`globs: *.ts` is none, and common) are read line by line; a
 * file without a head has no fields.
 */
export function frontMatterOf(text: string): FrontMatter {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const parts = /^---[ \t]*\n(?:([^]*?)\n)??---[ \t]*(?:\n|$)([^]*)$/.exec(plain);
  if (!parts) return { fields: {}, source: "", body: plain };
  const [, source = "", body = ""] = parts;
  return { fields: fieldsOf(source), source, body };
}

/** A field's text; other kinds of values have none. */
export function textField({ fields }: FrontMatter, name: string): string {
  const value = fields[name];
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

/** A list, also one written as a text with commas. Commas within braces part nothing. */
export function listField({ fields }: FrontMatter, name: string): string[] {
  const value = fields[name];
  const texts = Array.isArray(value) ? value.filter((each) => typeof each === "string") : splitList(value);
  return texts.map((each) => each.trim()).filter((each) => each !== "");
}

/** True for `true`, also as a text. */
export function flagField({ fields }: FrontMatter, name: string): boolean {
  return fields[name] === true || fields[name] === "true";
}

function splitList(value: unknown): string[] {
  return typeof value === "string" ? value.split(/,(?![^{]*\})/) : [];
}

function fieldsOf(source: string): { [name: string]: unknown } {
  try {
    const value: unknown = parse(source, { logLevel: "silent" });
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as { [name: string]: unknown };
  } catch {
    // Read it line by line.
  }
  const fields: { [name: string]: unknown } = {};
  for (const line of source.split("\n")) {
    const pair = /^([\w-]+):[ \t]*(.*)$/.exec(line);
    if (pair?.[1]) fields[pair[1]] = (pair[2] ?? "").replace(/^(["'])(.*)\1$/, "$2");
  }
  return fields;
}
