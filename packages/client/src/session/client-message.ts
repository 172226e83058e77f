import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AgentClientMessageSchema, type AgentRunRequestSchema } from "@keyturn/protocol/agent";
import { encodeClientMessage } from "@keyturn/protocol/codec";

/** A client message as a plain literal: the case and its value. */
export type ClientMessageInit = NonNullable<MessageInitShape<typeof AgentClientMessageSchema>["message"]>;

/** The message that starts a run, as a plain literal. */
export type RunRequestInit = MessageInitShape<typeof AgentRunRequestSchema>;

/** The bytes of a client message. */
export function encodeMessage(message: ClientMessageInit): Uint8Array {
  return encodeClientMessage(create(AgentClientMessageSchema, { message }));
}
