import { encodeHex } from "@keyturn/protocol/codec";
import type { ClientStore, StoredConversation } from "./client-store.js";

/** A store that lives as long as the process: for tests, and for programs that keep nothing. */
export class MemoryStore implements ClientStore {
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #conversations = new Map<string, StoredConversation>();

  blob(id: Uint8Array): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#blobs.get(encodeHex(id)));
  }

  putBlob(id: Uint8Array, bytes: Uint8Array): Promise<void> {
    this.#blobs.set(encodeHex(id), bytes);
    return Promise.resolve();
  }

  conversation(id: string): Promise<StoredConversation | undefined> {
    return Promise.resolve(this.#conversations.get(id));
  }

  saveConversation(conversation: StoredConversation): Promise<void> {
    // Set anew, the newest is last.
    this.#conversations.delete(conversation.id);
    this.#conversations.set(conversation.id, conversation);
    return Promise.resolve();
  }

  newestConversation(workspace: string): Promise<StoredConversation | undefined> {
    const own = [...this.#conversations.values()].filter((one) => one.workspace === workspace && !one.subagentType);
    return Promise.resolve(own.at(-1));
  }
}
