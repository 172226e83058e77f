import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExecClientMessage, ExecClientMessageSchema, ExecServerMessage } from "@keyturn/protocol/agent";

/** One request of the server, with the way back. */
export interface Execution {
  readonly message: ExecServerMessage;
  send(message: ExecClientMessage): void;
  /** Aborted when the server asks for it, or when the run is over. */
  readonly signal: AbortSignal;
}

/** The execution ends with `throw`, and this is its error. */
export class ExecutionFailure extends Error {
  override readonly name = "ExecutionFailure";

  get error(): string {
    return this.message;
  }
}

/**
 * Answered executions by `exec_id`. An empty list stands for one that was begun and never answered: whether it had an
 * effect is not known, so it must not be done again.
 */
export interface ExecutionJournal {
  find(execId: string): Promise<ExecClientMessage[] | undefined>;
  record(execId: string, messages: ExecClientMessage[]): Promise<void>;
}

/** The `message` of an answer, as a plain literal. */
export type Answer = NonNullable<MessageInitShape<typeof ExecClientMessageSchema>["message"]>;

/** What the executor of one tool gets besides its arguments. */
export interface Call {
  answer(message: Answer): void;
  /** To be awaited before the first effect on the machine: from here on the execution is never done a second time. */
  begin(): Promise<void>;
  readonly signal: AbortSignal;
}
