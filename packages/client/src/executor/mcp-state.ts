import { fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { McpStateExecArgs, McpToolDefinitionSchema } from "@keyturn/protocol/agent";
import type { Call } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import type { McpServerState } from "./mcp-server.js";
import { wireNameOf } from "./mcp-servers.js";

/** Tells the MCP servers with their tools; connects those that are not. */
export async function executeMcpState(args: McpStateExecArgs, call: Call, context: ExecutorContext): Promise<void> {
  if (args.kickOnly) context.mcp.kick();
  const states = args.kickOnly ? [] : await context.mcp.states(args.serverIdentifiers);
  const servers = states.map((state) => ({
    serverName: state.name,
    serverIdentifier: state.name,
    tools: toolsOf(state),
    instructions: instructionsOf(state),
    status: state.status,
  }));
  call.answer({ case: "mcpStateExecResult", value: { result: { case: "success", value: { servers } } } });
}

/** A server's tools as the wire lists them. */
export function toolsOf({ name, tools }: McpServerState): MessageInitShape<typeof McpToolDefinitionSchema>[] {
  return tools.map((tool) => ({
    name: wireNameOf(name, tool),
    description: tool.description ?? "",
    inputSchema: schemaOf(tool.inputSchema),
    providerIdentifier: name,
    toolName: tool.name,
  }));
}

/** What a server says about its use; nothing when it says nothing. */
export function instructionsOf({ name, instructions }: McpServerState) {
  return instructions === "" ? [] : [{ serverName: name, serverIdentifier: name, instructions }];
}

/** A JSON schema as a message. */
export function schemaOf(schema: unknown) {
  return fromJson(ValueSchema, JSON.parse(JSON.stringify(schema ?? {})) as JsonValue);
}
