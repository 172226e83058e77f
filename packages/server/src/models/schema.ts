import type { JSONSchema7 } from "@ai-sdk/provider";
import type { Json } from "../run/ids.js";
import type { ProviderType } from "./port.js";

type Schema = { [key: string]: Json | undefined };

/** Words about a schema that say nothing about values; some providers refuse them. */
const dropped = new Set([
  "$schema",
  "$id",
  "$comment",
  "$defs",
  "definitions",
  "$anchor",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

/** Keywords Google's schema subset does not know. */
const unknownToGoogle = new Set([
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "unevaluatedProperties",
  "dependentRequired",
  "dependentSchemas",
  "if",
  "then",
  "else",
  "not",
  "contains",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "uniqueItems",
  "default",
  "contentEncoding",
  "contentMediaType",
]);

/**
 * Turns a tool's JSON schema into one the provider accepts (I-104): references are resolved (cycles end in an
 * open schema), the root is an object without alternatives, arrays have items, required names exist.
 */
export function providerSchema(parameters: Json, type: ProviderType): JSONSchema7 {
  const root = asSchema(parameters) ?? {};
  const flat = flattenRoot(simplify(root, root, type, []) as Schema);
  return { ...flat, type: "object", properties: asSchema(flat["properties"]) ?? {} } as JSONSchema7;
}

function simplify(value: Json | undefined, root: Schema, type: ProviderType, path: readonly string[]): Json {
  const schema = asSchema(value);
  if (!schema) return typeof value === "boolean" ? {} : (value ?? {});
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const target = path.includes(reference) ? undefined : resolve(reference, root);
    const { $ref: _reference, ...rest } = schema;
    const resolved = target === undefined ? {} : (simplify(target, root, type, [...path, reference]) as Schema);
    return { ...resolved, ...(simplify(rest, root, type, path) as Schema) };
  }
  const result: Schema = {};
  for (const [key, item] of Object.entries(schema)) {
    if (dropped.has(key) || (type === "google" && unknownToGoogle.has(key))) continue;
    result[key] = simplifyKeyword(key, item, root, type, path);
  }
  return repair(result, type);
}

function simplifyKeyword(
  key: string,
  item: Json | undefined,
  root: Schema,
  type: ProviderType,
  path: readonly string[],
): Json | undefined {
  if (key === "properties" || key === "patternProperties") {
    const entries = Object.entries(asSchema(item) ?? {});
    return Object.fromEntries(entries.map(([name, schema]) => [name, simplify(schema, root, type, path)]));
  }
  if (key === "anyOf" || key === "oneOf" || key === "allOf" || key === "prefixItems") {
    return Array.isArray(item) ? item.map((schema: Json) => simplify(schema, root, type, path)) : item;
  }
  if (key === "items" || key === "additionalProperties" || key === "not" || key === "contains") {
    if (key === "additionalProperties" && typeof item === "boolean") return item;
    return Array.isArray(item) ? simplify(item[0] as Json, root, type, path) : simplify(item, root, type, path);
  }
  return item;
}

function repair(schema: Schema, type: ProviderType): Schema {
  if (schema["type"] === "array" && !asSchema(schema["items"])) schema["items"] = {};
  const items = asSchema(schema["items"]);
  if (type === "google" && items && Object.keys(items).length === 0) schema["items"] = { type: "string" };
  const properties = asSchema(schema["properties"]);
  if (schema["required"] !== undefined) {
    const names = Array.isArray(schema["required"]) ? schema["required"] : [];
    const existing = names.filter(
      (name) => typeof name === "string" && properties !== undefined && Object.hasOwn(properties, name),
    );
    if (existing.length > 0) schema["required"] = existing;
    else delete schema["required"];
  }
  if (type === "google" && Array.isArray(schema["enum"]) && schema["enum"].some((word) => typeof word !== "string")) {
    delete schema["enum"];
  }
  return schema;
}

/** Alternatives at the root become optional properties of one object: providers want a plain object there. */
function flattenRoot(root: Schema): Schema {
  const { anyOf, oneOf, allOf, ...rest } = root;
  const properties: Schema = { ...asSchema(rest["properties"]) };
  const required = new Set<Json>(Array.isArray(rest["required"]) ? rest["required"] : []);
  for (const [choices, together] of [
    [anyOf, false],
    [oneOf, false],
    [allOf, true],
  ] as const) {
    for (const choice of Array.isArray(choices) ? choices : []) {
      const part = asSchema(choice as Json);
      for (const [name, schema] of Object.entries(asSchema(part?.["properties"]) ?? {})) properties[name] ??= schema;
      if (together && Array.isArray(part?.["required"]))
        for (const name of part["required"]) required.add(name as Json);
    }
  }
  const { required: _required, ...others } = rest;
  return { ...others, properties, ...(required.size > 0 ? { required: [...required] } : {}) };
}

function resolve(reference: string, root: Schema): Json | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let value: Json | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    const holder = asSchema(value);
    if (!holder || !Object.hasOwn(holder, key)) return undefined;
    value = holder[key];
  }
  return value;
}

function asSchema(value: Json | undefined): Schema | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}
