import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentServerMessageSchema, ExecServerMessageSchema, InteractionUpdateSchema } from "./agent.js";

/** A server message as a plain literal: what pure code writes and the codec encodes. */
export type ServerMessageInit = MessageInitShape<typeof AgentServerMessageSchema>;

/** The `message` oneof of an interaction update, as a plain literal. */
export type InteractionUpdateInit = NonNullable<MessageInitShape<typeof InteractionUpdateSchema>["message"]>;

/** The `message` oneof of an execution request, as a plain literal. */
export type ExecArgsInit = NonNullable<MessageInitShape<typeof ExecServerMessageSchema>["message"]>;
