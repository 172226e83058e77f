import type { AgentMode } from "@keyturn/protocol/agent";

/** A conversation as the client can go on with it. */
export interface StoredConversation {
  readonly id: string;
  /** The folder it works in. */
  readonly workspace: string;
  /** The beginning of its first message. */
  readonly title: string;
  /** The newest state: the id of the blob that holds its `ConversationStateStructure`. Missing before the first checkpoint. */
  readonly root?: string;
  /** What the user chose last. */
  readonly model?: string;
  readonly mode?: AgentMode;
  /** The conversation this one was forked from, or the one whose subagent it is. */
  readonly parent?: string;
  /** Set for a subagent's conversation, which no person goes on with. */
  readonly subagentType?: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

/**
 * What a client keeps: the blobs the server hands it, and for each conversation the newest state. What a method has stored
 * when it resolves is there after a crash. Methods reject with the system's error when the disk is full or not writable.
 */
export interface ClientStore {
  /** The bytes of a blob, undefined when there is none or when it is damaged. */
  blob(id: Uint8Array): Promise<Uint8Array | undefined>;
  putBlob(id: Uint8Array, bytes: Uint8Array): Promise<void>;
  conversation(id: string): Promise<StoredConversation | undefined>;
  saveConversation(conversation: StoredConversation): Promise<void>;
  /** The one of a folder that was used last; those of subagents do not count. */
  newestConversation(workspace: string): Promise<StoredConversation | undefined>;
}
