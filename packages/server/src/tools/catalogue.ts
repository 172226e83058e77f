import { badArgumentsText, toolCall } from "./define-tool.js";
import { deleteTool } from "./delete.js";
import { editTool } from "./edit.js";
import { fetchMcpResourceTool } from "./fetch-mcp-resource.js";
import { globTool } from "./glob.js";
import { grepTool } from "./grep.js";
import { listMcpResourcesTool } from "./list-mcp-resources.js";
import { lsTool } from "./ls.js";
import { mcpTool, unknownToolBody } from "./mcp.js";
import { customToolsServer } from "./mcp-routes.js";
import { toolModes } from "./modes.js";
import { builtInNames } from "./names.js";
import { readTool } from "./read.js";
import { readLintsTool } from "./read-lints.js";
import { shellTool } from "./shell.js";
import { todoWriteTool } from "./todo-write.js";
import type { Invocation, Tool, ToolContext, ToolDescriptor, ToolResult } from "./tool.js";
import { writeTool } from "./write.js";

export { mcpRoutes } from "./mcp-routes.js";
export { parseArguments } from "./parse-arguments.js";

type BuiltInName = (typeof builtInNames)[number];

const builtIns: { readonly [name in BuiltInName]: Tool } = {
  Shell: shellTool,
  Read: readTool,
  Write: writeTool,
  Edit: editTool,
  Delete: deleteTool,
  Grep: grepTool,
  Glob: globTool,
  Ls: lsTool,
  ReadLints: readLintsTool,
  TodoWrite: todoWriteTool,
  ListMcpResources: listMcpResourcesTool,
  FetchMcpResource: fetchMcpResourceTool,
};

/** What the model is offered, in an order that does not change within a run: built-ins, then routes as first seen. */
export function offeredTools(context: ToolContext): ToolDescriptor[] {
  return offered(context).map((tool) => tool.describe(context));
}

/** The tool behind a name the model called; undefined when it is not offered in this context. Built-ins win. */
export function findTool(name: string, context: ToolContext): Tool | undefined {
  if (isBuiltIn(name)) return isOffered(name, context) ? builtIns[name] : undefined;
  const route = context.mcpRoutes.find(({ alias }) => alias === name);
  return route ? mcpTool(route) : undefined;
}

/**
 * A tool that stands in for a name nobody offers (a slip of the model, a tool of another mode, an MCP tool that is gone): its
 * call fails at once and says what there is instead.
 */
export function unknownTool(name: string): Tool {
  const hidden = isBuiltIn(name) ? builtIns[name] : undefined;
  const started = (invocation: Invocation, context: ToolContext) => {
    const call = { callId: invocation.callId, context };
    return hidden ? hidden.started(invocation, context) : toolCall(call.callId, unknownToolBody(name, call));
  };
  const failed = (invocation: Invocation, context: ToolContext, message: string) => {
    const call = { callId: invocation.callId, context };
    return hidden
      ? hidden.failed(invocation, context, message)
      : toolCall(call.callId, unknownToolBody(name, call, message));
  };
  const refuse = (invocation: Invocation, context: ToolContext) => {
    const text = unknownToolText(name, context);
    return { kind: "finish", result: { text, isError: true, toolCall: failed(invocation, context, text) } } as const;
  };
  return {
    name,
    describe: () => ({ name, description: "", parameters: { type: "object", properties: {} } }),
    started,
    failed,
    begin: refuse,
    proceed: refuse,
  };
}

/** The result of a call whose arguments could not be read; nothing was run (I-98). */
export function badArguments(tool: Tool, invocation: Invocation, context: ToolContext, problem: string): ToolResult {
  const text = badArgumentsText(tool.name, [problem]);
  return { text, isError: true, toolCall: tool.failed(invocation, context, text) };
}

function unknownToolText(name: string, context: ToolContext): string {
  const available = offered(context).map((tool) => tool.name);
  const there = isBuiltIn(name);
  const close = available.find((other) => other.toLowerCase() === name.toLowerCase());
  const why = there ? `${name} is not available in ${context.mode} mode.` : `There is no tool ${JSON.stringify(name)}.`;
  return `${why}${close ? ` Did you mean ${close}?` : ""} Available tools: ${available.join(", ")}.`;
}

function offered(context: ToolContext): Tool[] {
  const own = builtInNames.filter((name) => isOffered(name, context)).map((name) => builtIns[name]);
  const routed = context.mcpRoutes.filter(({ alias }) => !isBuiltIn(alias)).map(mcpTool);
  return [...own, ...routed];
}

function isOffered(name: BuiltInName, context: ToolContext): boolean {
  if (!toolModes[name].includes(context.mode)) return false;
  const aboutServers = name === "ListMcpResources" || name === "FetchMcpResource";
  return !aboutServers || context.mcpRoutes.some(({ server }) => server !== "" && server !== customToolsServer);
}

function isBuiltIn(name: string): name is BuiltInName {
  return (builtInNames as readonly string[]).includes(name);
}
