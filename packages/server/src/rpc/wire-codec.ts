import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { AgentServerMessageSchema } from "@keyturn/protocol/agent";
import { decodeClientMessage, encodeServerMessage } from "@keyturn/protocol/codec";
import type { Codec } from "../engine/ports.js";

/** The engine's codec over the generated code. `decodeClientMessage` throws MalformedMessage. */
export const wireCodec: Codec = {
  encodeServerMessage: (message) => encodeServerMessage(create(AgentServerMessageSchema, message)),
  decodeClientMessage,
  hash: (bytes) => createHash("sha256").update(bytes).digest("hex"),
};
