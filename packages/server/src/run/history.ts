import type { BlobId, Json } from "./ids.js";

/**
 * Conversation history in the form it is kept in: one JSON blob a message (`root_prompt_messages_json`).
 * The part names follow the common chat-message JSON, so that other servers' states read alike.
 */
export type HistoryMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export interface SystemMessage {
  readonly role: "system";
  readonly content: string;
}

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly UserPart[];
}

export type UserPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; readonly blobId: BlobId };

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantPart[];
}

export type AssistantPart =
  | { readonly type: "text"; readonly text: string; readonly provider?: ProviderData }
  | { readonly type: "reasoning"; readonly text: string; readonly provider?: ProviderData }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      /** The parsed arguments object; `{}` where the model's text was not one JSON object (I-98). */
      readonly args: Json;
      readonly provider?: ProviderData;
    };

export interface ToolMessage {
  readonly role: "tool";
  readonly content: readonly ToolResultPart[];
}

export interface ToolResultPart {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly result: string;
  readonly isError?: boolean;
  /** Images a tool returned, shown to models that can see. */
  readonly images?: readonly { readonly mediaType: string; readonly blobId: BlobId }[];
}

/**
 * Opaque state a provider wants back (signatures, encrypted reasoning, item ids), valid only for the
 * provider and model it came from (I-111).
 */
export interface ProviderData {
  readonly provider: string;
  readonly model: string;
  readonly data: Json;
}
