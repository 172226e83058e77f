import { create } from "@bufbuild/protobuf";
import { type ToolCall, ToolCallSchema } from "@keyturn/protocol/agent";
import type { Json } from "../run/ids.js";
import { bounded } from "./answers.js";
import { ArgumentReader } from "./args.js";
import type {
  ExecReport,
  ExecRequest,
  Invocation,
  Move,
  Tool,
  ToolContext,
  ToolDescriptor,
  ToolResult,
} from "./tool.js";

/** The oneof of a ToolCall message. */
export type ToolBody = ToolCall["tool"];

/** Facts of one call that its steps may use. */
export interface Call {
  readonly callId: string;
  readonly context: ToolContext;
}

/** A move in a tool's own terms. */
export type Step =
  | { readonly do: "run"; readonly executions: readonly ExecRequest[] }
  /** Ends with a message for the model; the body is `failure`'s when none is given. */
  | { readonly do: "fail"; readonly text: string; readonly body?: ToolBody }
  | ({ readonly do: "finish"; readonly body: ToolBody } & Omit<ToolResult, "toolCall" | "isError"> & {
        readonly isError?: boolean;
      });

/** What a tool consists of, with its arguments decoded to `Input`. */
export interface ToolParts<Input> {
  readonly name: string;
  describe(context: ToolContext): Omit<ToolDescriptor, "name">;
  /** Reads the arguments; problems are collected by the reader and end the call before `begin`. */
  decode(reader: ArgumentReader, context: ToolContext): Input;
  /** The ToolCall with arguments only. */
  arguments(input: Input, call: Call): ToolBody;
  /** The ToolCall with an error result. */
  failure(input: Input, call: Call, message: string): ToolBody;
  begin(input: Input, call: Call): Step;
  proceed(input: Input, call: Call, reports: readonly ExecReport[]): Step;
  readonly isTerminal?: NonNullable<Tool["isTerminal"]>;
  lock?(input: Input): string | undefined;
}

/** Builds a tool from its parts: decoding, bad arguments and the ToolCall envelope are the same for all. */
export function defineTool<Input>(parts: ToolParts<Input>): Tool {
  function open(invocation: Invocation, context: ToolContext) {
    const reader = new ArgumentReader(invocation.args);
    const input = parts.decode(reader, context);
    return { input, problems: reader.problems, call: { callId: invocation.callId, context } };
  }

  function move(step: Step, input: Input, call: Call): Move {
    if (step.do === "run") return { kind: "run", executions: step.executions };
    if (step.do === "fail") {
      const body = step.body ?? parts.failure(input, call, step.text);
      return { kind: "finish", result: { text: step.text, isError: true, toolCall: toolCall(call.callId, body) } };
    }
    const { do: _, body, isError = false, ...rest } = step;
    return { kind: "finish", result: { ...rest, isError, toolCall: toolCall(call.callId, body) } };
  }

  const { lock, isTerminal } = parts;
  return {
    name: parts.name,
    describe: (context) => ({ name: parts.name, ...parts.describe(context) }),
    started(invocation, context) {
      const { input, call } = open(invocation, context);
      return toolCall(call.callId, parts.arguments(input, call));
    },
    begin(invocation, context) {
      const { input, problems, call } = open(invocation, context);
      if (problems.length > 0) return move(fail(badArgumentsText(parts.name, problems)), input, call);
      return move(parts.begin(input, call), input, call);
    },
    proceed(invocation, context, reports) {
      const { input, call } = open(invocation, context);
      return move(parts.proceed(input, call, reports), input, call);
    },
    failed(invocation, context, message) {
      const { input, call } = open(invocation, context);
      return toolCall(call.callId, parts.failure(input, call, bounded(message)));
    },
    ...(isTerminal ? { isTerminal } : {}),
    ...(lock ? { lock: (invocation: Invocation, context = noContext) => lock(open(invocation, context).input) } : {}),
  };
}

/** Wraps a body as the ToolCall of a call. */
export function toolCall(callId: string, body: ToolBody): ToolCall {
  return create(ToolCallSchema, { toolCallId: callId, tool: body });
}

/** A step that asks the client for one execution. */
export function run(key: string, args: ExecRequest["args"]): Step {
  return { do: "run", executions: [{ key, args }] };
}

/** A step that ends the call with an error. */
export function fail(text: string, body?: ToolBody): Step {
  return body ? { do: "fail", text, body } : { do: "fail", text };
}

/** What the model reads about arguments that were not usable: nothing was run, and what to mend. */
export function badArgumentsText(tool: string, problems: readonly string[]): string {
  return `${tool} was not run: ${problems.join("; ")}. Correct the arguments and call ${tool} again.`;
}

/** JSON schema of an arguments object. */
export function objectSchema(properties: { readonly [name: string]: Json }, required: readonly string[] = []): Json {
  return { type: "object", properties, required, additionalProperties: false };
}

const noContext: ToolContext = {
  workspace: null,
  workspaces: [],
  mode: "agent",
  mcpRoutes: [],
  todos: [],
  now: 0,
};
