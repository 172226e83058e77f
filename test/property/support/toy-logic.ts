import { create, fromBinary } from "@bufbuild/protobuf";
import { AgentClientMessageSchema, ToolCallSchema } from "@keyturn/protocol/agent";
import { fault } from "../../../packages/server/src/run/faults.js";
import type { CallMove, RunLogic } from "../../../packages/server/src/run/logic.js";
import type { CallState } from "../../../packages/server/src/run/state.js";
import { bytesHex } from "./encoding.js";

/** What a toy call does: the executions of its first and second step, and the lock it takes. */
export interface ToyScript {
  readonly steps: readonly number[];
  readonly lock?: string;
}

/** The arguments that make the toy logic follow a script. */
export function toyArgs(script: ToyScript): string {
  return JSON.stringify(script);
}

type Finish = CallMove & { readonly kind: "finish" };

/**
 * A turn room small enough to be seen through: a call's arguments are its script, a blob's name is the hex of its
 * bytes, a conversation called "" is refused and one whose name holds "context" asks for the request context.
 */
export const toyLogic: RunLogic = {
  decode: (bytes) => fromBinary(AgentClientMessageSchema, bytes),

  begin(key, message) {
    if (message.message.case !== "runRequest") return fault("request/invalid", "Not a run request.");
    const { conversationId, action } = message.message.value;
    if (!conversationId) return fault("request/invalid", "The request names no conversation.");
    const userMessage = action?.action.case === "userMessageAction" ? action.action.value.userMessage : undefined;
    return {
      conversationId,
      model: "toy",
      tag: `t${key.generation}`,
      facts: { context: null },
      blobs: [],
      held: ["a0"],
      wantsContext: conversationId.includes("context"),
      userMessage: userMessage ?? null,
    };
  },

  withContext: (facts, message) => ({ ...facts, context: message?.message.case ?? "none" }),

  isBlob: (id, bytes) => bytesHex(bytes) === id,

  openCall: (_state, call) => ({ toolCall: create(ToolCallSchema), lock: scriptOf(call.args)?.lock }),

  startCall: (_state, call) => step(call, 0),

  continueCall: (_state, call) => step(call, call.execs.length),

  abandonCall: (_state, _call, why) => finish(why, true),

  isTerminal(message) {
    const { message: of } = message;
    if (of.case !== "shellStream") return true;
    return !["stdout", "stderr", "start", undefined].includes(of.value.event.case);
  },
};

function step(call: CallState, opened: number): CallMove {
  const script = call.complete ? scriptOf(call.args) : undefined;
  if (!script) return finish("The call was cut or its arguments are no script.", true);
  const [first = 0, second = 0] = script.steps;
  const count = opened === 0 ? first : opened === first ? second : 0;
  if (count === 0) return finish(`done after ${opened}`, false);
  const executions = Array.from({ length: count }, (_, at) => ({
    key: `${opened + at}`,
    args: { case: "readArgs", value: { path: `${call.callId}/${opened + at}` } } as const,
  }));
  return { kind: "run", executions };
}

function finish(text: string, isError: boolean): Finish {
  const toolCall = create(ToolCallSchema);
  return { kind: "finish", text, isError, toolCall, encoded: new Uint8Array(), images: [], facts: { last: text } };
}

function scriptOf(args: string): ToyScript | undefined {
  return args.startsWith("{") ? (JSON.parse(args) as ToyScript) : undefined;
}
