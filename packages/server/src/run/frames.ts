import type { ToolCall } from "@keyturn/protocol/agent";
import type { ExecArgsInit, InteractionUpdateInit, ServerMessageInit } from "@keyturn/protocol/init";
import type { BlobId } from "./ids.js";
import type { AgentUserMessage } from "./logic.js";
import type { Channel } from "./records.js";
import type { Usage } from "./usage.js";

/** Wraps an interaction update (O1). */
function update(message: InteractionUpdateInit): ServerMessageInit {
  return { message: { case: "interactionUpdate", value: { message } } };
}

export function deltaFrame(channel: Channel, text: string): ServerMessageInit {
  return channel === "text"
    ? update({ case: "textDelta", value: { text } })
    : update({ case: "thinkingDelta", value: { text } });
}

export function thinkingCompletedFrame(durationMs: number): ServerMessageInit {
  return update({ case: "thinkingCompleted", value: { thinkingDurationMs: Math.max(0, Math.round(durationMs)) } });
}

export function userMessageFrame(userMessage: AgentUserMessage): ServerMessageInit {
  return update({ case: "userMessageAppended", value: { userMessage } });
}

export function stepStartedFrame(step: number): ServerMessageInit {
  return update({ case: "stepStarted", value: { stepId: BigInt(step) } });
}

export function stepCompletedFrame(step: number, durationMs: number): ServerMessageInit {
  return update({
    case: "stepCompleted",
    value: { stepId: BigInt(step), stepDurationMs: BigInt(Math.max(0, Math.round(durationMs))) },
  });
}

export function callStartedFrame(callId: string, toolCall: ToolCall, modelCallId: string): ServerMessageInit {
  return update({ case: "toolCallStarted", value: { callId, toolCall, modelCallId } });
}

export function callCompletedFrame(callId: string, toolCall: ToolCall, modelCallId: string): ServerMessageInit {
  return update({ case: "toolCallCompleted", value: { callId, toolCall, modelCallId } });
}

export function shellOutputFrame(channel: "stdout" | "stderr", text: string): ServerMessageInit {
  return channel === "stdout"
    ? update({ case: "shellOutputDelta", value: { event: { case: "stdout", value: { data: text } } } })
    : update({ case: "shellOutputDelta", value: { event: { case: "stderr", value: { data: text } } } });
}

export function turnEndedFrame(usage: Usage): ServerMessageInit {
  return update({
    case: "turnEnded",
    value: {
      inputTokens: BigInt(usage.inputTokens),
      outputTokens: BigInt(usage.outputTokens),
      cacheReadTokens: BigInt(usage.cacheReadTokens),
      cacheWriteTokens: BigInt(usage.cacheWriteTokens),
      reasoningTokens: BigInt(usage.reasoningTokens),
    },
  });
}

export function execFrame(id: number, execId: string, message: ExecArgsInit): ServerMessageInit {
  return { message: { case: "execServerMessage", value: { id, execId, message } } };
}

export function abortFrame(id: number): ServerMessageInit {
  return { message: { case: "execServerControlMessage", value: { message: { case: "abort", value: { id } } } } };
}

export function getBlobFrame(id: number, blobId: BlobId): ServerMessageInit {
  return {
    message: {
      case: "kvServerMessage",
      value: { id, message: { case: "getBlobArgs", value: { blobId: hexBytes(blobId) } } },
    },
  };
}

export function setBlobFrame(id: number, blobId: BlobId, blobData: Uint8Array): ServerMessageInit {
  return {
    message: {
      case: "kvServerMessage",
      value: { id, message: { case: "setBlobArgs", value: { blobId: hexBytes(blobId), blobData } } },
    },
  };
}

/** The raw bytes of a hex name: on the wire a blob id is the 32 bytes of its hash. */
function hexBytes(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}
