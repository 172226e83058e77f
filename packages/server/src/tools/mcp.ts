import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { McpArgsSchema, type McpResult, McpToolCallSchema, type McpToolResultSchema } from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { type Call, defineTool, fail, run, type Step, type ToolBody } from "./define-tool.js";
import { mcpContent } from "./mcp-content.js";
import type { McpRoute, Tool } from "./tool.js";

interface Input {
  readonly args: { [name: string]: Value };
}

type ResultInit = MessageInitShape<typeof McpToolResultSchema>["result"];

const namesShown = 100;

/** The tool behind one route: a call of an MCP server's or a custom tool, run by the client. */
export function mcpTool(route: McpRoute): Tool {
  const body = (input: Input, call: Call, result?: ResultInit): ToolBody => ({
    case: "mcpToolCall",
    value: create(McpToolCallSchema, {
      args: argsInit(route, input, call),
      ...(route.description ? { description: route.description } : {}),
      ...(result ? { result: { result } } : {}),
    }),
  });
  return defineTool<Input>({
    name: route.alias,
    describe: () => ({
      description: route.description ?? `Tool ${route.toolName} of ${route.server || "the client"}.`,
      parameters: route.inputSchema,
    }),
    decode(reader) {
      const given = Object.entries(reader.all).filter(([, value]) => value !== undefined);
      return {
        args: Object.fromEntries(given.map(([name, value]) => [name, fromJson(ValueSchema, value as JsonValue)])),
      };
    },
    arguments: (input, call) => body(input, call),
    failure: (input, call, message) => body(input, call, { case: "error", value: { error: message } }),
    begin: (input, call) => run("mcp", { case: "mcpArgs", value: create(McpArgsSchema, argsInit(route, input, call)) }),
    proceed(input, call, [report]) {
      const answer = answerOf(report, "mcpResult");
      if (!answer.ok) return fail(`${route.alias} failed: ${answer.problem}.`);
      return settle(route, answer.value, (result) => body(input, call, result));
    },
  });
}

/** A ToolCall for a call of a tool that does not exist: shown as an MCP call that failed. */
export function unknownToolBody(name: string, call: Call, message?: string): ToolBody {
  return {
    case: "mcpToolCall",
    value: create(McpToolCallSchema, {
      args: { name, toolName: name, toolCallId: call.callId },
      ...(message === undefined ? {} : { result: { result: { case: "error", value: { error: message } } } }),
    }),
  };
}

function argsInit(route: McpRoute, input: Input, call: Call) {
  return {
    name: route.clientName,
    providerIdentifier: route.server,
    toolName: route.toolName,
    args: input.args,
    toolCallId: call.callId,
  };
}

function settle(route: McpRoute, { result }: McpResult, body: (result: ResultInit) => ToolBody): Step {
  switch (result.case) {
    case "success": {
      const { text, images, shown } = mcpContent(result.value);
      return {
        do: "finish",
        text: text === "" ? "[the tool returned nothing]" : text,
        isError: result.value.isError,
        ...(images.length > 0 ? { images } : {}),
        body: body({ case: "success", value: shown }),
      };
    }
    case "error": {
      const error = bounded(result.value.error || "no reason given");
      return fail(`${route.alias} failed: ${error}`, body({ case: "error", value: { error } }));
    }
    case "rejected": {
      const reason = bounded(result.value.reason || "no reason given");
      const value = { reason, isReadonly: result.value.isReadonly };
      return fail(`The call of ${route.alias} was rejected: ${reason}.`, body({ case: "rejected", value }));
    }
    case "permissionDenied": {
      const error = bounded(result.value.error || "no reason given");
      const value = { error, isReadonly: result.value.isReadonly };
      return fail(`Permission denied for ${route.alias}: ${error}.`, body({ case: "permissionDenied", value }));
    }
    case "toolNotFound":
      return fail(
        `The client has no tool ${result.value.name || route.clientName} (any more).${listed("Its tools", result.value.availableTools)}`,
      );
    case "serverNotFound":
      return fail(
        `The client has no MCP server ${result.value.name || route.server} (any more).${listed("Its servers", result.value.availableServers)}`,
      );
    case "approved":
      return fail(`The client approved the call of ${route.alias} but did not run it.`);
    default:
      return fail(`${route.alias} failed: the client gave an empty answer.`);
  }
}

function listed(what: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > namesShown ? `, … (${names.length - namesShown} more)` : "";
  return bounded(` ${what}: ${names.slice(0, namesShown).join(", ")}${more}.`);
}
