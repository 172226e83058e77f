import { create, fromBinary } from "@bufbuild/protobuf";
import { type ConversationStateStructure, ConversationStateStructureSchema } from "@keyturn/protocol/agent";
import type { HistoryMessage } from "../run/history.js";
import type { BlobId } from "../run/ids.js";
import { idOf } from "./blob.js";
import { decodeMessage } from "./message-codec.js";

/** The state a turn starts from, with its history loaded as far as the blobs are there. */
export interface Base {
  readonly structure: ConversationStateStructure;
  readonly messages: readonly HistoryMessage[];
  /** Message blobs that are nowhere: to be asked of the client, or lost for good (I-45). */
  readonly missing: readonly BlobId[];
}

/** Reads the structure a client named. Unknown fields stay in it and go back as they came (P23). */
export function decodeState(bytes: Uint8Array | undefined): ConversationStateStructure {
  return bytes ? fromBinary(ConversationStateStructureSchema, bytes) : create(ConversationStateStructureSchema);
}

/** Every blob a state names directly: what the client that sent it holds. */
export function namedBlobs(structure: ConversationStateStructure): readonly BlobId[] {
  const raw = [
    ...structure.rootPromptMessagesJson,
    ...structure.turns,
    ...structure.todos,
    ...structure.summaryArchives,
  ];
  return [...new Set(raw.flatMap((bytes) => idOf(bytes) ?? []))];
}

/** Loads the history of a state. Entries may be blob ids or, from old servers, bodies of their own. */
export async function loadBase(
  structure: ConversationStateStructure,
  get: (ids: readonly BlobId[]) => Promise<ReadonlyMap<BlobId, Uint8Array>>,
): Promise<Base> {
  const entries = structure.rootPromptMessagesJson.map((raw) => ({ raw, id: idOf(raw) }));
  const found = await get(entries.flatMap(({ id }) => id ?? []));
  const messages: HistoryMessage[] = [];
  const missing: BlobId[] = [];
  for (const { raw, id } of entries) {
    const bytes = id === undefined ? raw : found.get(id);
    if (bytes === undefined && id !== undefined) missing.push(id);
    const message = bytes && decodeMessage(bytes);
    if (message) messages.push(message);
  }
  return { structure, messages, missing };
}
