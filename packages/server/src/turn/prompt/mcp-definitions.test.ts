import { create } from "@bufbuild/protobuf";
import { McpToolDefinitionSchema } from "@keyturn/protocol/agent";
import { expect, test } from "vitest";
import { mcpDefinitions } from "./mcp-definitions.js";
import { sampleContext } from "./testing.js";

const definition = (providerIdentifier: string, toolName: string, description = "") =>
  create(McpToolDefinitionSchema, {
    name: `${providerIdentifier}-${toolName}`,
    providerIdentifier,
    toolName,
    description,
  });

test("custom tools listed twice are there once, as the request defines them, in a stable order", () => {
  const tools = [definition("tiny", "echo"), definition("custom-user-tools", "add", "old"), definition("tiny", "a")];
  const requestTools = [definition("custom-user-tools", "add", "new")];
  const expected = [definition("custom-user-tools", "add", "new"), definition("tiny", "a"), definition("tiny", "echo")];
  expect(mcpDefinitions(sampleContext({ tools }), requestTools)).toEqual(expected);
  expect(mcpDefinitions(sampleContext({ tools: tools.reverse() }), requestTools)).toEqual(expected);
});

test("without a context the request's tools remain; tools without a name do not", () => {
  const tool = definition("custom-user-tools", "add");
  expect(mcpDefinitions(undefined, [tool, create(McpToolDefinitionSchema, { providerIdentifier: "x" })])).toEqual([
    tool,
  ]);
});

test("a server that is only described gets definitions for the tools with a schema", () => {
  const mcpDescriptors = [
    {
      serverName: "Tiny",
      serverIdentifier: "tiny",
      tools: [
        { toolName: "echo", inputSchemaJson: "{}" },
        { toolName: "later" },
        { toolName: "a", inputSchemaJson: "{}" },
      ],
    },
  ];
  const context = sampleContext({ tools: [definition("tiny", "a", "listed")], mcpMetaToolOptions: { mcpDescriptors } });
  const described = create(McpToolDefinitionSchema, {
    name: "tiny-echo",
    providerIdentifier: "tiny",
    toolName: "echo",
    inputSchemaJson: "{}",
  });
  expect(mcpDefinitions(context, [])).toEqual([definition("tiny", "a", "listed"), described]);
});

test("a definition that only has its full name is the same tool", () => {
  const short = create(McpToolDefinitionSchema, { name: "tiny-echo", providerIdentifier: "tiny" });
  expect(mcpDefinitions(sampleContext({ tools: [definition("tiny", "echo")] }), [short])).toEqual([short]);
});
