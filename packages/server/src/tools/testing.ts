import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ExecClientMessageSchema } from "@keyturn/protocol/agent";
import type { Json } from "../run/ids.js";
import type { CapturedOutput, ExecReport, Move, Tool, ToolContext, ToolResult } from "./tool.js";

/** For tests: the facts of a run in the workspace `/ws`. */
export function contextOf(facts: Partial<ToolContext> = {}): ToolContext {
  return { workspace: "/ws", workspaces: ["/ws"], mode: "agent", mcpRoutes: [], todos: [], now: 1_000, ...facts };
}

/** For tests: an answer of the client. */
export function answered(
  message: MessageInitShape<typeof ExecClientMessageSchema>["message"],
  output?: CapturedOutput,
): ExecReport {
  const outcome = { key: "key", how: "answered", message: create(ExecClientMessageSchema, { message }) } as const;
  return output ? { outcome, output } : { outcome };
}

/** For tests: the first move of a call. */
export function begin(tool: Tool, args: Json, context = contextOf()): Move {
  return tool.begin({ callId: "call-1", name: tool.name, args }, context);
}

/** For tests: the move after the given reports. */
export function proceed(tool: Tool, args: Json, reports: readonly ExecReport[], context = contextOf()): Move {
  return tool.proceed({ callId: "call-1", name: tool.name, args }, context, reports);
}

/** For tests: the result of a move that must end the call. */
export function resultOf(move: Move): ToolResult {
  if (move.kind !== "finish")
    throw new Error(`The call goes on with ${move.executions.map(({ key }) => key).join(", ")}`);
  return move.result;
}
