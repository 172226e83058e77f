import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { McpToolDefinition } from "@keyturn/protocol/agent";
import type { Json } from "../run/ids.js";
import { isReservedName } from "./names.js";
import type { McpRoute } from "./tool.js";

/** Provider name of tools that the SDK's caller defined in its own process. */
export const customToolsServer = "custom-user-tools";

const longestAlias = 64;
const emptySchema: Json = { type: "object", properties: {} };

type Draft = Omit<McpRoute, "alias"> & { readonly base: string; readonly altered: boolean };

/**
 * Names the client's MCP and custom tools for the model (I-68, I-104). A name that every provider takes stays as it is;
 * others are made safe. Names that only then clash get a short suffix from their identity, so that an alias depends neither on
 * the order nor, but for a clash, on the other tools. A tool listed twice is kept once, in first place, as listed last.
 */
export function mcpRoutes(definitions: readonly McpToolDefinition[]): McpRoute[] {
  const drafts = new Map<string, Draft>();
  for (const definition of definitions) {
    const draft = draftOf(definition);
    if (draft) drafts.set(identity(draft), draft);
  }
  const bases = new Map<string, number>();
  for (const { base } of drafts.values()) bases.set(base, (bases.get(base) ?? 0) + 1);
  const taken = new Set<string>();
  // Names that need no change first: a clash never takes a tool's own name away.
  const ordered = [...drafts.values()].sort((one, other) => Number(one.altered) - Number(other.altered));
  const aliases = new Map<Draft, string>();
  for (const draft of ordered) {
    const clashes = taken.has(draft.base) || (draft.altered && (bases.get(draft.base) ?? 0) > 1);
    let alias = clashes ? withSuffix(draft.base, identity(draft)) : draft.base;
    for (let attempt = 1; taken.has(alias); attempt++) alias = withSuffix(draft.base, `${identity(draft)}\0${attempt}`);
    taken.add(alias);
    aliases.set(draft, alias);
  }
  return [...drafts.values()].map((draft) => {
    const { base, altered: _, ...route } = draft;
    return { alias: aliases.get(draft) ?? base, ...route };
  });
}

function draftOf(definition: McpToolDefinition): Draft | null {
  const server = definition.providerIdentifier;
  const prefix = `${server}-`;
  const stripped = definition.name.startsWith(prefix) ? definition.name.slice(prefix.length) : definition.name;
  const toolName = definition.toolName || stripped;
  if (toolName === "") return null;
  const clientName = definition.name || (server === "" ? toolName : prefix + toolName);
  const { base, altered } = safeName(clientName, server, toolName);
  return {
    base,
    altered,
    server,
    toolName,
    clientName,
    ...(definition.description === "" ? {} : { description: definition.description }),
    inputSchema: schemaOf(definition),
  };
}

function safeName(clientName: string, server: string, toolName: string): { base: string; altered: boolean } {
  let name = clientName.replace(/[^a-zA-Z0-9_-]+/g, "_");
  if (!/[a-zA-Z0-9]/.test(name)) name = `tool_${hash(`${server}\0${toolName}`)}`;
  // Some providers want a letter or an underscore first.
  if (!/^[a-zA-Z_]/.test(name)) name = `t_${name}`;
  if (isReservedName(name)) name = `${(server || "mcp").replace(/[^a-zA-Z0-9_-]+/g, "_")}-${name}`;
  if (isReservedName(name) || !/^[a-zA-Z_]/.test(name)) name = `mcp_${name}`;
  if (name.length > longestAlias) name = withSuffix(name, `${server}\0${toolName}`);
  return { base: name, altered: name !== clientName };
}

function withSuffix(base: string, of: string): string {
  const suffix = `_${hash(of)}`;
  return base.slice(0, longestAlias - suffix.length) + suffix;
}

function identity(draft: { server: string; toolName: string }): string {
  return `${draft.server}\0${draft.toolName}`;
}

function schemaOf(definition: McpToolDefinition): Json {
  const schema = definition.inputSchema ? (toJson(ValueSchema, definition.inputSchema) as Json) : parsed(definition);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return emptySchema;
  const object = schema as { readonly [key: string]: Json };
  return object.type === "object" ? object : { ...object, type: "object" };
}

function parsed(definition: McpToolDefinition): Json {
  try {
    return JSON.parse(definition.inputSchemaJson ?? "null") as Json;
  } catch {
    return null;
  }
}

/** FNV-1a over UTF-16 units: eight hexadecimal digits, only to tell names apart. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return value.toString(16).padStart(8, "0");
}
