import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type AgentClientMessage, AgentClientMessageSchema } from "@keyturn/protocol/agent";
import { bytesHex, hexBytes } from "./encoding.js";

/** A client message with its bytes and the hash the sequence knows it by. */
export interface ToyMessage {
  readonly message: AgentClientMessage;
  readonly bytes: Uint8Array;
  readonly hash: string;
}

type Body = NonNullable<MessageInitShape<typeof AgentClientMessageSchema>["message"]>;

function toy(body: Body): ToyMessage {
  const message = create(AgentClientMessageSchema, { message: body });
  const bytes = toBinary(AgentClientMessageSchema, message);
  return { message, bytes, hash: `hash:${bytesHex(bytes)}` };
}

/** Starts a run; an empty conversation id makes the toy logic refuse it, one with "context" asks for the context. */
export function runRequest(conversationId = "conversation"): ToyMessage {
  const action = {
    action: { case: "userMessageAction", value: { userMessage: { text: "hello", messageId: "m1" } } },
  } as const;
  return toy({ case: "runRequest", value: { conversationId, action } });
}

/** A message that starts a run as far as numbering goes, and that the core knows no effect of. */
export function prewarm(): ToyMessage {
  return toy({ case: "prewarmRequest", value: { conversationId: "conversation" } });
}

/** The last word of an execution. */
export function execResult(id: number, execId = "", content = "content"): ToyMessage {
  const value = { result: { case: "success", value: { path: content } } } as const;
  return toy({ case: "execClientMessage", value: { id, execId, message: { case: "readResult", value } } });
}

/** Output of a shell that goes on. */
export function shellOutput(id: number, channel: "stdout" | "stderr", data: string): ToyMessage {
  const event =
    channel === "stdout"
      ? ({ case: "stdout", value: { data } } as const)
      : ({ case: "stderr", value: { data } } as const);
  return toy({ case: "execClientMessage", value: { id, message: { case: "shellStream", value: { event } } } });
}

/** The end of a shell. */
export function shellExit(id: number, code = 0): ToyMessage {
  const event = { case: "exit", value: { code } } as const;
  return toy({ case: "execClientMessage", value: { id, message: { case: "shellStream", value: { event } } } });
}

/** The client closed the stream of an execution. */
export function streamClose(id: number): ToyMessage {
  return toy({ case: "execClientControlMessage", value: { message: { case: "streamClose", value: { id } } } });
}

/** The client could not run an execution. */
export function execThrow(id: number, error = "boom"): ToyMessage {
  return toy({ case: "execClientControlMessage", value: { message: { case: "throw", value: { id, error } } } });
}

/** The client's word on a blob it was offered. */
export function setBlobResult(id: number, ok: boolean): ToyMessage {
  const value = ok ? {} : { error: { message: "disk full" } };
  return toy({ case: "kvClientMessage", value: { id, message: { case: "setBlobResult", value } } });
}

/** The client's answer to a question for a blob; undefined when it has none. */
export function getBlobResult(id: number, blobId: string | undefined): ToyMessage {
  const value = blobId === undefined ? {} : { blobData: hexBytes(blobId) };
  return toy({ case: "kvClientMessage", value: { id, message: { case: "getBlobResult", value } } });
}

/** The user pressed stop. */
export function cancelAction(reason = ""): ToyMessage {
  const action = { case: "cancelAction", value: { reason } } as const;
  return toy({ case: "conversationAction", value: { action } });
}

/** A message of a case the core does not know; `salt` makes its bytes its own. */
export function unknownMessage(salt = 0): ToyMessage {
  return toy({ case: "interactionResponse", value: { id: salt } });
}
