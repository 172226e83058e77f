import { describe, expect, test } from "vitest";
import type { Json } from "../run/ids.js";
import { findTool } from "./catalogue.js";
import { answered, begin, contextOf, proceed, resultOf } from "./testing.js";
import type { ExecOutcome, Tool } from "./tool.js";

const context = contextOf({
  mcpRoutes: [
    { alias: "tiny-echo", server: "tiny", toolName: "echo", clientName: "tiny-echo", inputSchema: { type: "object" } },
  ],
});

function tool(name: string): Tool {
  const found = findTool(name, context);
  if (!found) throw new Error(`${name} is not offered`);
  return found;
}

describe("outcomes that are no answers (I-57, W7, W25)", () => {
  const calls: readonly (readonly [string, Json])[] = [
    ["Shell", { command: "make" }],
    ["Read", { path: "a" }],
    ["Write", { path: "a", contents: "x" }],
    ["Edit", { path: "a", old_string: "x", new_string: "y" }],
    ["Delete", { path: "a" }],
    ["Grep", { pattern: "x" }],
    ["Glob", { glob_pattern: "x" }],
    ["Ls", { path: "a" }],
    ["ReadLints", { paths: ["a"] }],
    ["tiny-echo", {}],
    ["ListMcpResources", {}],
    ["FetchMcpResource", { server: "tiny", uri: "a" }],
  ];
  const outcomes: readonly ExecOutcome[] = [
    { key: "key", how: "thrown", error: "No handler found for server message of type X" },
    { key: "key", how: "thrown", error: "boom" },
    { key: "key", how: "closed" },
    { key: "key", how: "silent" },
    { key: "key", how: "aborted" },
  ];
  for (const [name, args] of calls) {
    test(`${name}: thrown, closed, silent and aborted end the call with an error in its ToolCall`, () => {
      for (const outcome of outcomes) {
        const { text, isError, toolCall } = resultOf(proceed(tool(name), args, [{ outcome }], context));
        expect({ isError, text: text.length > 0, toolCallId: toolCall.toolCallId }).toEqual({
          isError: true,
          text: true,
          toolCallId: "call-1",
        });
        expect(toolCall.tool.value).toHaveProperty("result.result.case");
      }
    });
    test(`${name}: an answer of another kind is a tool error`, () => {
      const wrong = answered({ case: "fetchResult", value: {} });
      expect(resultOf(proceed(tool(name), args, [wrong], context))).toMatchObject({ isError: true });
    });
    test(`${name}: bad arguments end the call at once with an error in its ToolCall`, () => {
      if (name === "tiny-echo" || name === "ListMcpResources") return;
      const first = Object.keys(args as object)[0] ?? "";
      const { isError, text, toolCall } = resultOf(begin(tool(name), { [first]: 7 }, context));
      expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(`"${first}" must be`) });
      expect(toolCall.tool.value).toHaveProperty("result.result.case");
    });
    test(`${name}: failed and started give ToolCalls of the same kind`, () => {
      const invocation = { callId: "call-1", name, args };
      const failed = tool(name).failed(invocation, context, "canceled");
      const started = tool(name).started(invocation, context);
      expect(failed.tool.case).toBe(started.tool.case);
      expect(failed.tool.value).toHaveProperty("result.result.case");
      expect(started.tool.value).not.toHaveProperty("result.result");
    });
  }
});
