import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { McpToolDefinitionSchema } from "@keyturn/protocol/agent";
import { describe, expect, test } from "vitest";
import { badArguments, findTool, mcpRoutes, offeredTools, parseArguments, unknownTool } from "./catalogue.js";
import { builtInNames } from "./names.js";
import { contextOf, resultOf } from "./testing.js";
import type { ToolContext } from "./tool.js";

const define = (init: MessageInitShape<typeof McpToolDefinitionSchema>) => create(McpToolDefinitionSchema, init);
const tool = (server: string, name: string) =>
  define({ name: `${server}-${name}`, providerIdentifier: server, toolName: name });
const aliases = (...definitions: ReturnType<typeof define>[]) => mcpRoutes(definitions).map(({ alias }) => alias);
const modes: readonly ToolContext["mode"][] = ["agent", "ask", "plan", "debug"];
const withServer = (mode: ToolContext["mode"]) => contextOf({ mode, mcpRoutes: mcpRoutes([tool("tiny", "echo")]) });

describe("what is offered", () => {
  test.each(modes)("every tool offered in %s mode is found, in a stable order, with a valid schema", (mode) => {
    const context = withServer(mode);
    const offered = offeredTools(context);
    const order = [...builtInNames, "tiny-echo"] as string[];
    const names = offered.map(({ name }) => name);
    expect(names).toEqual(order.filter((name) => names.includes(name)));
    for (const descriptor of offered) {
      const found = findTool(descriptor.name, context);
      expect(found?.name).toBe(descriptor.name);
      expect(descriptor.description.length).toBeGreaterThan(10);
      const schema = descriptor.parameters as {
        type: string;
        properties: object;
        required?: string[];
        additionalProperties?: boolean;
      };
      expect(schema.type).toBe("object");
      if (descriptor.name === "tiny-echo") continue;
      expect(schema.additionalProperties).toBe(false);
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(schema.required ?? ["missing"]));
      for (const property of Object.values(schema.properties)) {
        expect(["string", "integer", "boolean", "array"]).toContain((property as { type: string }).type);
      }
    }
  });

  test("W18: ask and plan offer and find nothing that writes", () => {
    for (const mode of ["ask", "plan"] as const) {
      const context = withServer(mode);
      for (const name of ["Shell", "Write", "Edit", "Delete"]) {
        expect(offeredTools(context).map((each) => each.name)).not.toContain(name);
        expect(findTool(name, context)).toBeUndefined();
      }
      const args = { server: "tiny", uri: "a", downloadPath: "x" };
      const move = findTool("FetchMcpResource", context)?.begin(
        { callId: "c", name: "FetchMcpResource", args },
        context,
      );
      expect(move).toMatchObject({
        kind: "finish",
        result: { text: expect.stringContaining(`${mode} mode does not allow`) },
      });
    }
  });

  test("MCP resources are offered only when there is a server; custom tools are none", () => {
    const custom = contextOf({ mcpRoutes: mcpRoutes([tool("custom-user-tools", "add")]) });
    expect(offeredTools(custom).map(({ name }) => name)).not.toContain("FetchMcpResource");
    expect(offeredTools(withServer("agent")).map(({ name }) => name)).toContain("FetchMcpResource");
  });

  test("I-68: a call of a tool that nobody offers fails with what there is", () => {
    const context = contextOf({ mode: "ask" });
    const invocation = { callId: "c", name: "gone-tool", args: {} };
    const gone = unknownTool("gone-tool");
    const result = resultOf(gone.begin(invocation, context));
    expect(result.text).toBe(
      'There is no tool "gone-tool". Available tools: Read, Grep, Glob, Ls, ReadLints, TodoWrite.',
    );
    expect(result.toolCall).toMatchObject({
      toolCallId: "c",
      tool: { case: "mcpToolCall", value: { args: { name: "gone-tool" } } },
    });
    expect(gone.started(invocation, context).tool.case).toBe("mcpToolCall");
    expect(resultOf(unknownTool("read").begin(invocation, context)).text).toContain("Did you mean Read?");
    const edit = resultOf(unknownTool("Edit").begin({ ...invocation, args: { path: "a" } }, context));
    expect(edit.text).toContain("Edit is not available in ask mode.");
    expect(edit.toolCall.tool.case).toBe("editToolCall");
  });

  test("I-98: unreadable arguments fail that call alone, with a ToolCall of the tool", () => {
    const context = contextOf();
    const parsed = parseArguments('{"path":');
    const read = findTool("Read", context);
    if (parsed.ok || !read) throw new Error("unexpected");
    const result = badArguments(read, { callId: "c", name: "Read", args: {} }, context, parsed.problem);
    expect(result).toMatchObject({
      isError: true,
      text: expect.stringContaining("Read was not run: the arguments end early"),
    });
    expect(result.toolCall.tool).toMatchObject({
      case: "readToolCall",
      value: { result: { result: { case: "error" } } },
    });
  });
});

describe("MCP names (I-68, I-104)", () => {
  test("safe names stay as they are", () => {
    expect(aliases(tool("tiny", "echo"), tool("tiny", "add"))).toEqual(["tiny-echo", "tiny-add"]);
  });

  test("a tool listed twice is offered once, in first place, as listed last", () => {
    const first = define({ name: "custom-user-tools-add", providerIdentifier: "custom-user-tools", toolName: "add" });
    const again = define({
      name: first.name,
      providerIdentifier: first.providerIdentifier,
      toolName: "add",
      description: "Adds.",
    });
    const routes = mcpRoutes([first, tool("tiny", "echo"), again]);
    expect(routes.map(({ alias, description }) => [alias, description])).toEqual([
      ["custom-user-tools-add", "Adds."],
      ["tiny-echo", undefined],
    ]);
  });

  test("strange names become safe, unique, short and stay the same", () => {
    const strange = [
      tool("my server (1)", "do.it/now"),
      define({ name: "1.weird tool/名前", providerIdentifier: "s", toolName: "1.weird tool/名前" }),
      define({ name: "名前", providerIdentifier: "s", toolName: "名前" }),
      tool("s", "x".repeat(80)),
      tool("s", `${"x".repeat(79)}y`),
      define({ name: "a.b", providerIdentifier: "s", toolName: "a.b" }),
      define({ name: "a/b", providerIdentifier: "s", toolName: "a/b" }),
      define({ name: "a_b", providerIdentifier: "s", toolName: "a_b" }),
    ];
    const names = aliases(...strange);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    expect(new Set(names).size).toBe(strange.length);
    expect(names.slice(0, 2)).toEqual(["my_server_1_-do_it_now", "t_1_weird_tool_"]);
    expect(names[7]).toBe("a_b");
    expect(aliases(...[...strange].reverse())).toEqual([...names].reverse());
  });

  test("F.2 24: a name of a built-in tool is renamed, and the built-in wins", () => {
    const routes = mcpRoutes([
      define({ name: "Read", providerIdentifier: "fs", toolName: "Read" }),
      define({ name: "WebSearch", toolName: "WebSearch" }),
    ]);
    expect(routes.map(({ alias, clientName }) => [alias, clientName])).toEqual([
      ["fs-Read", "Read"],
      ["mcp-WebSearch", "WebSearch"],
    ]);
    const context = contextOf({ mcpRoutes: [{ ...routes[0], alias: "Read" } as never] });
    expect(findTool("Read", context)?.started({ callId: "c", name: "Read", args: {} }, context).tool.case).toBe(
      "readToolCall",
    );
    expect(offeredTools(context).filter(({ name }) => name === "Read")).toHaveLength(1);
  });

  test("schemas come from the value or the JSON text, and are objects in any case", () => {
    const schema = (init: MessageInitShape<typeof McpToolDefinitionSchema>) =>
      mcpRoutes([define({ name: "t", ...init })])[0]?.inputSchema;
    const title = fromJson(ValueSchema, { title: "v" });
    expect(schema({ inputSchema: title })).toEqual({ title: "v", type: "object" });
    expect(schema({ inputSchemaJson: '{"type":"object","properties":{"a":{}}}' })).toEqual({
      type: "object",
      properties: { a: {} },
    });
    for (const init of [{}, { inputSchemaJson: "{" }, { inputSchemaJson: "[1]" }]) {
      expect(schema(init)).toEqual({ type: "object", properties: {} });
    }
  });

  test("the call goes to the client under its own name, with values of every kind", () => {
    const context = contextOf({ mcpRoutes: mcpRoutes([tool("my server", "do.it")]) });
    const found = findTool("my_server-do_it", context);
    const args = { text: "x", n: 1.5, yes: true, none: null, list: [1, { deep: "y" }] };
    const move = found?.begin({ callId: "c", name: "my_server-do_it", args }, context);
    expect(move).toMatchObject({
      executions: [
        {
          key: "mcp",
          args: {
            case: "mcpArgs",
            value: {
              name: "my server-do.it",
              providerIdentifier: "my server",
              toolName: "do.it",
              toolCallId: "c",
              args: { n: { kind: { case: "numberValue", value: 1.5 } }, none: { kind: { case: "nullValue" } } },
            },
          },
        },
      ],
    });
  });
});
