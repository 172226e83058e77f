import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ListMcpResourcesExecArgsSchema,
  type ListMcpResourcesExecResult,
  type ListMcpResourcesExecResultSchema,
  ListMcpResourcesToolCallSchema,
  type ListMcpResourcesExecResult_McpResource as Resource,
} from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { defineTool, fail, objectSchema, run, type Step, type ToolBody } from "./define-tool.js";
import { limits } from "./limits.js";
import { fitLines, headOf, plural } from "./text.js";

interface Input {
  readonly server?: string;
}

/** Lists what MCP servers offer to read. */
export const listMcpResourcesTool = defineTool<Input>({
  name: "ListMcpResources",
  describe: () => ({
    description: "List the resources that MCP servers offer. Read one with FetchMcpResource.",
    parameters: objectSchema({ server: { type: "string", description: "Only resources of this server." } }),
  }),
  decode(reader) {
    const server = reader.optionalText(["server", "server_name", "serverName", "providerIdentifier"]);
    return server ? { server } : {};
  },
  arguments: (input) => body(input),
  failure: (input, _call, message) => body(input, { case: "error", value: { error: message } }),
  begin: (input) =>
    run("list", { case: "listMcpResourcesExecArgs", value: create(ListMcpResourcesExecArgsSchema, input) }),
  proceed(input, _call, [report]) {
    const answer = answerOf(report, "listMcpResourcesExecResult");
    return answer.ok ? settle(input, answer.value) : fail(`Could not list the resources: ${answer.problem}.`);
  },
});

function settle(input: Input, { result }: ListMcpResourcesExecResult): Step {
  switch (result.case) {
    case "success": {
      const { resources } = result.value;
      const fitted = fitLines(resources.slice(0, limits.mcpResources).map(line), limits.mcpResourceListBytes);
      const shown = resources.slice(0, fitted.lines.length);
      const lines = [...fitted.lines];
      if (resources.length === 0) lines.push("There are no resources.");
      if (shown.length < resources.length)
        lines.push(`[showing ${shown.length} of ${plural(resources.length, "resource")}]`);
      return {
        do: "finish",
        text: lines.join("\n"),
        body: body(input, { case: "success", value: { resources: shown.map(boundedResource) } }),
      };
    }
    case "rejected": {
      const reason = bounded(result.value.reason || "no reason given");
      return fail(
        `Listing the resources was rejected: ${reason}.`,
        body(input, { case: "rejected", value: { reason } }),
      );
    }
    case "error":
      return fail(`Could not list the resources: ${bounded(result.value.error || "no reason given")}.`);
    default:
      return fail("Could not list the resources: the client gave an empty answer.");
  }
}

function line(resource: Resource): string {
  const facts = [resource.name, resource.mimeType].filter((each) => each).join(", ");
  const description = resource.description ? `: ${headOf(resource.description, limits.mcpDescriptionBytes)}` : "";
  return `${resource.server} ${resource.uri}${facts === "" ? "" : ` (${facts})`}${description}`;
}

function boundedResource({ uri, name, description, mimeType, server, annotations }: Resource) {
  const short = description === undefined ? {} : { description: headOf(description, limits.mcpDescriptionBytes) };
  return { uri, name, mimeType, server, annotations, ...short };
}

function body(input: Input, result?: MessageInitShape<typeof ListMcpResourcesExecResultSchema>["result"]): ToolBody {
  return {
    case: "listMcpResourcesToolCall",
    value: create(ListMcpResourcesToolCallSchema, { args: input, ...(result ? { result: { result } } : {}) }),
  };
}
