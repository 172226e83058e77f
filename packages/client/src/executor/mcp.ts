import type { MessageInitShape } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { McpArgs, McpResultSchema } from "@keyturn/protocol/agent";
import { messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import { mcpSuccess } from "./mcp-content.js";

type Result = NonNullable<MessageInitShape<typeof McpResultSchema>["result"]>;

/** Calls a tool of an MCP server, found by provider and tool name or by its name alone. */
export async function executeMcp(args: McpArgs, call: Call, context: ExecutorContext): Promise<void> {
  const answer = (result: Result) => call.answer({ case: "mcpResult", value: { result } });
  const { name, toolName } = args;
  const provider = args.providerIdentifier || args.serverIdentifier;
  const route = await context.mcp.route({ name, provider, toolName });
  if (route.found === "no-server") {
    answer({
      case: "serverNotFound",
      value: { name: provider || name, availableServers: [...route.availableServers] },
    });
    return;
  }
  if (route.found === "no-tool") {
    answer({ case: "toolNotFound", value: { name: name || toolName, availableTools: [...route.availableTools] } });
    return;
  }
  const { server, tool } = route;
  const input = Object.fromEntries(Object.entries(args.args).map(([key, value]) => [key, toJson(ValueSchema, value)]));
  const told = { tool_name: tool, tool_input: JSON.stringify(input), server: server.name };
  const hook = { event: "beforeMCPExecution", toolName: `MCP:${tool}`, input: told, toolCallId: args.toolCallId };
  const refusal = await context.gate.refusal({ tool: `mcp:${tool}`, server: server.name, hook });
  if (refusal !== null) {
    answer({ case: "permissionDenied", value: { error: refusal } });
    return;
  }
  if (args.smartModeApprovalOnly) {
    answer({ case: "approved", value: {} });
    return;
  }
  await call.begin();
  const startedAt = context.now();
  try {
    const result = mcpSuccess(await server.call(tool, input, call.signal));
    const outcome = { result_json: JSON.stringify(result.content), duration: context.now() - startedAt };
    await context.hooks.after({ ...hook, event: "afterMCPExecution" }, outcome);
    answer({ case: "success", value: result });
  } catch (cause) {
    answer({ case: "error", value: { error: messageOf(cause) } });
  }
}
