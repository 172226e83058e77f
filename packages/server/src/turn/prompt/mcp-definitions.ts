import { create } from "@bufbuild/protobuf";
import {
  type McpDescriptor,
  type McpToolDefinition,
  McpToolDefinitionSchema,
  type RequestContext,
} from "@keyturn/protocol/agent";
import { sortedBy } from "./cut-text.js";

/**
 * The MCP and custom tools of the client, each once, by server and tool (a stable order: I-123). Custom tools stand in
 * the request and in the context; the request's definition counts. Servers that are only described, with schemas but
 * without definitions, get definitions under the name clients use: `<server>-<tool>`.
 */
export function mcpDefinitions(
  context: RequestContext | null | undefined,
  requestTools: readonly McpToolDefinition[],
): McpToolDefinition[] {
  const described = [
    ...(context?.mcpMetaToolOptions?.mcpDescriptors ?? []),
    ...(context?.mcpFileSystemOptions?.mcpDescriptors ?? []),
  ];
  const found = new Map<string, McpToolDefinition>();
  for (const definition of [...requestTools, ...(context?.tools ?? []), ...described.flatMap(definitionsOf)]) {
    const key = keyOf(definition);
    if (toolNameOf(definition) !== "" && !found.has(key)) found.set(key, definition);
  }
  return sortedBy([...found.values()], keyOf);
}

function definitionsOf(server: McpDescriptor): McpToolDefinition[] {
  const identifier = server.serverIdentifier || server.serverName;
  return server.tools
    .filter((tool) => tool.toolName !== "" && (tool.inputSchema || tool.inputSchemaJson))
    .map((tool) =>
      create(McpToolDefinitionSchema, {
        name: `${identifier}-${tool.toolName}`,
        description: tool.description ?? "",
        inputSchema: tool.inputSchema,
        inputSchemaJson: tool.inputSchemaJson,
        providerIdentifier: identifier,
        toolName: tool.toolName,
      }),
    );
}

/** A definition may leave its tool's name to be read off `<server>-<tool>`. */
function toolNameOf({ name, providerIdentifier, toolName }: McpToolDefinition): string {
  const prefix = `${providerIdentifier}-`;
  return toolName || (name.startsWith(prefix) ? name.slice(prefix.length) : name);
}

function keyOf(definition: McpToolDefinition): string {
  return `${definition.providerIdentifier}\0${toolNameOf(definition)}`;
}
