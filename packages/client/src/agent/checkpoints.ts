import { createHash } from "node:crypto";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ConversationStateStructure, ConversationStateStructureSchema } from "@keyturn/protocol/agent";
import type { ClientStore, StoredConversation } from "../store/client-store.js";

/** Keeps a state of a conversation: first the state as a blob, then the line that makes it the newest. */
export async function saveCheckpoint(
  store: ClientStore,
  conversation: Omit<StoredConversation, "root">,
  state: ConversationStateStructure,
): Promise<StoredConversation> {
  const bytes = toBinary(ConversationStateStructureSchema, state);
  const id = createHash("sha256").update(bytes).digest();
  await store.putBlob(id, bytes);
  const saved = { ...conversation, root: id.toString("hex") };
  await store.saveConversation(saved);
  return saved;
}

/** The newest state of a conversation, undefined when there is none or when it is damaged. */
export async function loadCheckpoint(
  store: ClientStore,
  { root }: Pick<StoredConversation, "root">,
): Promise<ConversationStateStructure | undefined> {
  const bytes = root === undefined ? undefined : await store.blob(Buffer.from(root, "hex"));
  return bytes && fromBinary(ConversationStateStructureSchema, bytes);
}
