import { toBinary } from "@bufbuild/protobuf";
import { type ExecClientMessage, ToolCallSchema } from "@keyturn/protocol/agent";
import { decodeClientMessage } from "@keyturn/protocol/codec";
import type { ExecArgsInit } from "@keyturn/protocol/init";
import { blobOf } from "../conversation/blob.js";
import type { CallMove, RunLogic } from "../run/logic.js";
import type { CallState, ExecState, RunState } from "../run/state.js";
import { badArguments, findTool, unknownTool } from "../tools/catalogue.js";
import { parseArguments } from "../tools/parse-arguments.js";
import type { ExecOutcome, ExecReport, Invocation, Move, ToolResult } from "../tools/tool.js";
import { toFacts } from "./facts.js";
import { toolContext } from "./tool-context.js";

type CallLogic = Pick<RunLogic, "openCall" | "startCall" | "continueCall" | "abandonCall" | "isTerminal">;

/** Tool calls as the core sees them, answered by the tools room. */
export const callLogic: CallLogic = {
  openCall(state, call) {
    const { tool, invocation, context } = resolve(state, call, 0);
    const lock = tool.lock?.(invocation, context);
    return { toolCall: tool.started(invocation, context), ...(lock === undefined ? {} : { lock }) };
  },

  startCall(state, call, at) {
    const { tool, invocation, context, problem } = resolve(state, call, at);
    if (!call.complete) {
      // Whatever the arguments look like: the model was cut, so they are not what it meant (I-99).
      const text = `${call.name} was not run: the answer reached the output limit in the middle of this call. Make the call again with less content, for example in several smaller steps.`;
      return finished({ text, isError: true, toolCall: tool.failed(invocation, context, text) });
    }
    if (problem !== undefined) return finished(badArguments(tool, invocation, context, problem));
    return toMove(tool.begin(invocation, context));
  },

  continueCall(state, call, execs, at) {
    const { tool, invocation, context } = resolve(state, call, at);
    return toMove(tool.proceed(invocation, context, execs.map(reportOf)));
  },

  abandonCall(state, call, why) {
    const { tool, invocation, context } = resolve(state, call, call.openedAt);
    const text = `${call.name} has no result: ${why} What it did before, if anything, is unknown.`;
    return finished({ text, isError: true, toolCall: tool.failed(invocation, context, text) });
  },

  isTerminal(message) {
    if (message.message.case !== "shellStream") return message.message.case !== undefined;
    const event = message.message.value.event.case;
    return event !== undefined && !["start", "stdout", "stderr", "hookContext"].includes(event);
  },
};

function resolve(state: RunState, call: Pick<CallState, "callId" | "name" | "args">, at: number) {
  const context = toolContext(state, at);
  const parsed = parseArguments(call.args);
  const invocation: Invocation = { callId: call.callId, name: call.name, args: parsed.ok ? parsed.args : {} };
  const problem = parsed.ok ? undefined : parsed.problem;
  const tool = findTool(call.name, context) ?? unknownTool(call.name);
  return { tool, invocation, context, problem };
}

function toMove(move: Move): CallMove {
  if (move.kind === "finish") return finished(move.result);
  const executions = move.executions.map(({ key, args }) => ({ key, args: args as ExecArgsInit }));
  return { kind: "run", executions };
}

function finished(result: ToolResult): CallMove & { kind: "finish" } {
  const { text, isError, toolCall, images = [], todos } = result;
  return {
    kind: "finish",
    text,
    isError,
    toolCall,
    encoded: toBinary(ToolCallSchema, toolCall),
    images: images.map(({ mediaType, bytes }) => ({ mediaType, blob: blobOf(bytes) })),
    ...(todos ? { facts: toFacts({ todos }) } : {}),
  };
}

function reportOf(exec: ExecState): ExecReport {
  const output = exec.output ? { output: { ...exec.output, omittedBytes: exec.output.omitted } } : {};
  return { outcome: outcomeOf(exec), ...output };
}

function outcomeOf(exec: ExecState): ExecOutcome {
  const { key, outcome } = exec;
  const how = outcome?.how ?? "closed";
  if (how === "thrown") return { key, how, error: outcome?.error ?? "" };
  if (how !== "answered") return { key, how };
  const message = execMessage(outcome?.bytes);
  return message ? { key, how, message } : { key, how: "closed" };
}

function execMessage(bytes: Uint8Array | undefined): ExecClientMessage | undefined {
  const of = bytes ? decodeClientMessage(bytes).message : undefined;
  return of?.case === "execClientMessage" ? of.value : undefined;
}
