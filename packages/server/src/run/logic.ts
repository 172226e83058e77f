import type { AgentClientMessage, ExecClientMessage, ToolCall } from "@keyturn/protocol/agent";
import type { ExecArgsInit } from "@keyturn/protocol/init";
import type { Fault } from "./faults.js";
import type { Blob, BlobId, RunKey } from "./ids.js";
import type { Facts } from "./records.js";
import type { CallState, ExecState, RunState } from "./state.js";

/** What a run-starting message asks for, read by the turn room. */
export interface Beginning {
  readonly conversationId: string;
  readonly model: string;
  readonly tag: string;
  readonly facts: Facts;
  /** Large bodies of the message, kept as blobs (state, images, pre-fetched blobs). */
  readonly blobs: readonly Blob[];
  /** Blobs the client is known to hold. */
  readonly held: readonly BlobId[];
  /** True when the client has to be asked for the request context before the first pass. */
  readonly wantsContext: boolean;
  /** Updates to publish at the start, e.g. user_message_appended. */
  readonly userMessage: AgentUserMessage | null;
}

/** The user message as the client sent it. */
export type AgentUserMessage = NonNullable<
  Extract<
    NonNullable<Extract<AgentClientMessage["message"], { case: "runRequest" }>["value"]["action"]>["action"],
    { case: "userMessageAction" }
  >["value"]["userMessage"]
>;

/** What a tool call does next. */
export type CallMove =
  | { readonly kind: "run"; readonly executions: readonly { readonly key: string; readonly args: ExecArgsInit }[] }
  | {
      readonly kind: "finish";
      readonly text: string;
      readonly isError: boolean;
      readonly toolCall: ToolCall;
      readonly encoded: Uint8Array;
      readonly images: readonly { readonly mediaType: string; readonly blob: Blob }[];
      /** Facts the result changes (todos, mode). */
      readonly facts?: Facts;
    };

/**
 * What the core asks of the turn room while it decides. Implementations are pure: the same arguments give the
 * same answer, they read no clock and no file. The core never looks into facts, arguments or results.
 */
export interface RunLogic {
  /** Decodes a message that was accepted before; throws only if the log is damaged. */
  decode(bytes: Uint8Array): AgentClientMessage;
  /** Reads the message that starts the run, or says why it cannot start. */
  begin(key: RunKey, message: AgentClientMessage, at: number): Beginning | Fault;
  /** The facts that change once the client answered the question for its context; null when it did not. */
  withContext(facts: Facts, message: ExecClientMessage | null): Facts;
  /** True when the bytes are the blob they are said to be. */
  isBlob(id: BlobId, bytes: Uint8Array): boolean;
  /** How a call appears to the client and what it must not overlap with. */
  openCall(
    state: RunState,
    call: { callId: string; name: string; args: string; complete: boolean },
  ): {
    readonly toolCall: ToolCall;
    readonly lock?: string;
  };
  /** The first move of a call. */
  startCall(state: RunState, call: CallState, at: number): CallMove;
  /** The next move, asked once every execution of the call has an outcome. */
  continueCall(state: RunState, call: CallState, execs: readonly ExecState[], at: number): CallMove;
  /** The result of a call that nobody will finish. */
  abandonCall(state: RunState, call: CallState, why: string): CallMove & { kind: "finish" };
  /** Whether the message is the execution's last word. */
  isTerminal(message: ExecClientMessage): boolean;
}
