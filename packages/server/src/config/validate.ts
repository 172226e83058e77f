import type { z } from "zod";
import { ConfigError, type ConfigProblem } from "./config-error.js";
import type { KeyPath, ParsedFile } from "./parse.js";
import type { Expanded } from "./references.js";
import { type ConfigFile, configSchema, jsonSchema } from "./schema.js";
import { didYouMean } from "./suggest.js";

type Issue = z.core.$ZodIssue;
type JsonSchema = {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
};

/** Checks the value against the schema. Throws ConfigError with every problem at its place in the file. */
export function validate(parsed: ParsedFile, expanded: Expanded): ConfigFile {
  let result = configSchema.safeParse(expanded.value);
  if (!result.success && convertReferences(expanded, result.error.issues)) {
    result = configSchema.safeParse(expanded.value);
  }
  const problems = [
    ...expanded.problems,
    ...(result.error?.issues ?? []).flatMap((issue) => toProblems(parsed, issue)),
  ];
  if (problems.length > 0 || !result.success) throw new ConfigError(problems.sort(byPlace));
  return result.data;
}

/** A reference brings in text; where the schema wants a number or a boolean, text that reads as one is one. */
function convertReferences(expanded: Expanded, issues: readonly Issue[]): boolean {
  let converted = false;
  for (const issue of issues) {
    if (issue.code !== "invalid_type" || !expanded.wholeReferences.has(JSON.stringify(issue.path))) continue;
    const holder = valueAt(expanded.value, issue.path.slice(0, -1)) as Record<PropertyKey, unknown>;
    const key = issue.path.at(-1) as PropertyKey;
    const text = String(holder[key]);
    const isNumber = issue.expected === "number" || issue.expected === "int";
    if (isNumber ? !/^-?\d+(\.\d+)?$/.test(text) : !(issue.expected === "boolean" && /^(true|false)$/.test(text))) {
      continue;
    }
    holder[key] = Number.isNaN(Number(text)) ? text === "true" : Number(text);
    converted = true;
  }
  return converted;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], root);
}

function toProblems(parsed: ParsedFile, issue: Issue): ConfigProblem[] {
  const path = issue.path as KeyPath;
  if (issue.code !== "unrecognized_keys") return [parsed.problem(path, words(issue, parsed.value))];
  const known = Object.keys(schemaAt(path)?.properties ?? {});
  return issue.keys.map((key) => parsed.problem(path, `is no known key${didYouMean(key, known)}`, key));
}

function schemaAt(path: KeyPath): JsonSchema | undefined {
  return path.reduce<JsonSchema | undefined>((schema, part) => {
    if (typeof part === "number") return schema?.items;
    const other = schema?.additionalProperties;
    return schema?.properties?.[part] ?? (typeof other === "object" ? other : undefined);
  }, jsonSchema() as JsonSchema);
}

const typeNames: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

function words(issue: Issue, root: unknown): string {
  switch (issue.code) {
    case "invalid_type": {
      return valueAt(root, issue.path) === undefined
        ? "is missing"
        : `must be ${typeNames[issue.expected] ?? issue.expected}`;
    }
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.join(", ")}`;
    case "too_small":
      return issue.origin === "string" ? "must not be empty" : `must be at least ${issue.minimum}`;
    case "too_big":
      return issue.origin === "string"
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case "invalid_key":
      return "has an empty or a very long key";
    default:
      return issue.message;
  }
}

function byPlace(left: ConfigProblem, right: ConfigProblem): number {
  return (left.line ?? 0) - (right.line ?? 0) || (left.column ?? 0) - (right.column ?? 0);
}
