import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { McpSuccessSchema, ToolCallSchema } from "@keyturn/protocol/agent";
import { describe, expect, test } from "vitest";
import { unknownTool } from "./catalogue.js";
import { listMcpResourcesTool } from "./list-mcp-resources.js";
import { mcpContent } from "./mcp-content.js";
import { answered, contextOf, proceed, resultOf } from "./testing.js";
import { utf8Length } from "./text.js";

type Item = NonNullable<MessageInitShape<typeof McpSuccessSchema>["content"]>[number];

const bound = (content: Item[]) => mcpContent(create(McpSuccessSchema, { content }));
const text = (value: string): Item => ({ content: { case: "text", value: { text: value } } });
const image = (data: Uint8Array, mimeType = "image/png"): Item => ({
  content: { case: "image", value: { data, mimeType } },
});
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

describe("MCP content (I-59)", () => {
  test("texts share 32 KiB", () => {
    const { text: joined, shown } = bound([text("é".repeat(10_000)), text("x".repeat(30_000))]);
    expect(joined).toContain("[truncated: MCP result exceeded 32768 bytes; showing 12768 of 30000 bytes]");
    expect(utf8Length(joined)).toBeLessThan(33_000);
    expect(toBinary(McpSuccessSchema, shown).length).toBeLessThan(34_000);
  });

  test("more than 20 items are counted, not shown", () => {
    const { text: joined, shown } = bound(Array.from({ length: 25 }, (_, index) => text(`item ${index}`)));
    expect(joined).toContain("item 19\n[truncated: MCP result had 25 items; showing 20]");
    expect(shown.content).toHaveLength(21);
  });

  test("images stay whole or become a description, and their type is what their bytes say", () => {
    const large = new Uint8Array(4_000_000);
    large.set(png);
    const { images, text: joined } = bound([
      image(new Uint8Array(png), "image/x"),
      image(new Uint8Array([1, 2])),
      image(large),
    ]);
    expect(images).toEqual([{ mediaType: "image/png", bytes: new Uint8Array(png) }]);
    expect(joined).toBe(
      "[image: image/png, 8 bytes]\n[image: image/png, 2 bytes, not shown]\n[image: image/png, 4000000 bytes, not shown]",
    );
  });

  test("a text the client keeps in a file is named", () => {
    const value = { text: "short", outputLocation: { filePath: "/p/1.txt", sizeBytes: 9n } };
    expect(bound([{ content: { case: "text", value } }]).text).toBe("short\n[the whole text is in /p/1.txt (9 bytes)]");
  });

  test("a long list of resources is bounded", () => {
    const resources = Array.from({ length: 500 }, (_, index) => ({
      uri: `x://${index}`,
      server: "s",
      description: "d".repeat(5_000),
    }));
    const report = answered({
      case: "listMcpResourcesExecResult",
      value: { result: { case: "success", value: { resources } } },
    });
    const { text: listed, toolCall } = resultOf(proceed(listMcpResourcesTool, {}, [report]));
    expect(listed).toContain("[showing 31 of 500 resources]");
    expect(utf8Length(listed)).toBeLessThan(33_000);
    expect(toBinary(ToolCallSchema, toolCall).length).toBeLessThan(34_000);
  });
});

test("a tool name that is no well-formed text still gives a ToolCall that can be sent", () => {
  const invocation = { callId: "c", name: "x\ud83d\0", args: {} };
  const { text: said, toolCall } = resultOf(unknownTool(invocation.name).begin(invocation, contextOf()));
  expect(said).toContain('There is no tool "x\\ud83d\\u0000"');
  expect(toBinary(ToolCallSchema, toolCall).length).toBeGreaterThan(0);
});
