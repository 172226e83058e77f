import type { Blob } from "../run/ids.js";

/** A model as clients see it; the gateway's own description fits. */
export interface ListedModel {
  readonly id: string;
  readonly displayName: string;
  readonly description?: string;
  readonly contextWindow: number;
  readonly vision: boolean;
  /** Exact names and patterns with "*". */
  readonly aliases: readonly string[];
  readonly parameters: readonly ListedParameter[];
}

/** One knob of a model. */
export interface ListedParameter {
  readonly id: string;
  readonly displayName: string;
  readonly values: readonly { readonly value: string; readonly displayName: string }[];
  readonly default?: string;
}

/** The models that can be asked for. */
export interface ModelList {
  /** In the order to show them. */
  models(): readonly ListedModel[];
  /** By id or alias; "default" gives the default model. */
  resolve(id: string): ListedModel | undefined;
}

/** What clients tell of a conversation outside its runs. */
export interface ConversationNotes {
  get(
    conversationId: string,
  ): Promise<{ readonly name: string | null; readonly workspacePaths: readonly string[] } | undefined>;
  setMetadata(conversationId: string, name: string | undefined, workspacePaths: readonly string[]): Promise<void>;
}

/** Where blobs are kept under their hashes. */
export interface BlobSink {
  put(blobs: readonly Blob[]): Promise<void>;
}

/** Where the transport reports what operators want to see. Never holds payloads or keys. */
export interface TransportReports {
  streamOpened(): void;
  streamClosed(): void;
  /** An append was answered, after so many milliseconds. */
  appendAnswered(durationMs: number): void;
  /** A client called a procedure that is only acknowledged. */
  unknownCall(name: string): void;
  /** A defect: something that is neither the client's fault nor a run's end. */
  problem(what: string, cause: unknown): void;
}
