import { type Message, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import {
  AfterAgentResponseRequestQuerySchema,
  AfterAgentThoughtRequestQuerySchema,
  BeforeSubmitPromptRequestQuerySchema,
  type ExecuteHookArgs,
  type ExecuteHookRequest,
  type ExecuteHookResponseSchema,
  PostToolUseFailureRequestQuerySchema,
  PostToolUseRequestQuerySchema,
  PreCompactRequestQuerySchema,
  PreToolUseRequestQuerySchema,
  StopRequestQuerySchema,
  SubagentStartRequestQuerySchema,
  SubagentStopRequestQuerySchema,
} from "@keyturn/protocol/agent";
import { type Call, ExecutionFailure } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import type { HookAnswer } from "./hooks.js";

type Response = NonNullable<MessageInitShape<typeof ExecuteHookResponseSchema>["response"]>;

/** Runs the hooks of an event that the server tells. Fails when the project has no hooks at all. */
export async function executeHook({ request }: ExecuteHookArgs, call: Call, context: ExecutorContext): Promise<void> {
  const event = request?.request;
  if (context.hooks.events.length === 0 || event?.case === undefined) {
    throw new ExecutionFailure("No handler found for server message of type executeHookArgs");
  }
  const answer = await context.hooks.run(event.case, payloadOf(event));
  call.answer({ case: "executeHookResult", value: { response: { response: responseOf(event.case, answer) } } });
}

type Event = Exclude<ExecuteHookRequest["request"], { case: undefined }>;

function payloadOf(event: Event): { [name: string]: unknown } {
  switch (event.case) {
    case "preCompact":
      return plain(PreCompactRequestQuerySchema, event.value);
    case "subagentStart":
      return plain(SubagentStartRequestQuerySchema, event.value);
    case "subagentStop":
      return plain(SubagentStopRequestQuerySchema, event.value);
    case "preToolUse":
      return plain(PreToolUseRequestQuerySchema, event.value);
    case "postToolUse":
      return plain(PostToolUseRequestQuerySchema, event.value);
    case "postToolUseFailure":
      return plain(PostToolUseFailureRequestQuerySchema, event.value);
    case "beforeSubmitPrompt":
      return plain(BeforeSubmitPromptRequestQuerySchema, event.value);
    case "afterAgentResponse":
      return plain(AfterAgentResponseRequestQuerySchema, event.value);
    case "afterAgentThought":
      return plain(AfterAgentThoughtRequestQuerySchema, event.value);
    case "stop":
      return plain(StopRequestQuerySchema, event.value);
  }
}

function plain<Query extends Message>(schema: GenMessage<Query>, value: Query): { [name: string]: unknown } {
  return toJson(schema, value, { useProtoFieldName: true }) as { [name: string]: unknown };
}

function responseOf(event: Event["case"], answer: HookAnswer): Response {
  const { permission, userMessage, agentMessage, additionalContext, followupMessage, updatedInput } = answer;
  switch (event) {
    case "preCompact":
      return { case: event, value: { userMessage } };
    case "subagentStart":
      return { case: event, value: { permission, userMessage, additionalContext } };
    case "subagentStop":
      return { case: event, value: { followupMessage, additionalContext } };
    case "preToolUse": {
      const changed = updatedInput === undefined ? undefined : JSON.stringify(updatedInput);
      return {
        case: event,
        value: { permission, userMessage, agentMessage, additionalContext, updatedInput: changed },
      };
    }
    case "postToolUse":
    case "postToolUseFailure":
      return { case: event, value: { additionalContext } };
    case "beforeSubmitPrompt":
      return { case: event, value: { continue: !answer.stopped, userMessage, additionalContext } };
    case "afterAgentResponse":
    case "afterAgentThought":
      return { case: event, value: {} };
    case "stop":
      return { case: event, value: { followupMessage } };
  }
}
