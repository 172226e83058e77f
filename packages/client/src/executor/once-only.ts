import { clone, create, toBinary } from "@bufbuild/protobuf";
import { type ExecClientMessage, ExecClientMessageSchema, type ExecServerMessage } from "@keyturn/protocol/agent";
import { type Answer, type Call, type Execution, ExecutionFailure, type ExecutionJournal } from "./execution.js";
import { limits } from "./limits.js";

interface Running {
  readonly sent: ExecClientMessage[];
  readonly listeners: Set<(message: ExecClientMessage) => void>;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/**
 * Sees to it that an execution with an effect is carried out at most once, however often it is offered: one that runs is
 * joined, an answered one is answered from the journal, and one of which only the beginning is known fails with words.
 */
export class OnceOnly {
  readonly #journal: ExecutionJournal | undefined;
  readonly #running = new Map<string, Running>();

  constructor(journal: ExecutionJournal | undefined) {
    this.#journal = journal;
  }

  /** Carries out an execution, or answers it from what is known. */
  async run(execution: Execution, work: (call: Call) => Promise<void>): Promise<void> {
    const { execId } = execution.message;
    if (execId === "") return this.#attend(execution, this.#start(execution.message, work, null));
    const running = this.#running.get(execId);
    if (running) return this.#attend(execution, running);
    // Looking into the journal takes a moment, in which the same execution may be offered again: it joins this one.
    const started = this.#start(execution.message, work, this.#journal ?? null);
    this.#running.set(execId, started);
    void started.done.catch(() => undefined).then(() => this.#running.delete(execId));
    return this.#attend(execution, started);
  }

  /** Hands on what was sent so far and what will be, and waits for the end. */
  async #attend(execution: Execution, running: Running): Promise<void> {
    const { message, signal } = execution;
    const forward = (answer: ExecClientMessage): void => {
      const own = clone(ExecClientMessageSchema, answer);
      own.id = message.id;
      execution.send(own);
    };
    const abort = (): void => running.controller.abort(signal.reason);
    for (const answer of running.sent) forward(answer);
    running.listeners.add(forward);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    try {
      await running.done;
    } finally {
      running.listeners.delete(forward);
      signal.removeEventListener("abort", abort);
    }
  }

  #start(message: ExecServerMessage, work: (call: Call) => Promise<void>, journal: ExecutionJournal | null): Running {
    const sent: ExecClientMessage[] = [];
    const listeners = new Set<(message: ExecClientMessage) => void>();
    const controller = new AbortController();
    const emit = (answer: ExecClientMessage): void => {
      sent.push(answer);
      for (const listener of listeners) listener(answer);
    };
    const done = this.#carryOut(message, work, journal, emit, sent, controller.signal);
    return { sent, listeners, controller, done };
  }

  async #carryOut(
    { execId }: ExecServerMessage,
    work: (call: Call) => Promise<void>,
    journal: ExecutionJournal | null,
    emit: (message: ExecClientMessage) => void,
    sent: readonly ExecClientMessage[],
    signal: AbortSignal,
  ): Promise<void> {
    // Waits a turn in any case: whoever offered it is listening by then.
    const known = await journal?.find(execId);
    if (known && known.length > 0) {
      for (const message of known) emit(message);
      return;
    }
    if (known) {
      throw new ExecutionFailure(
        "The client was interrupted while it carried this out. It is not done a second time: look whether it had its effect.",
      );
    }
    let begun = false;
    let held: ExecClientMessage | null = null;
    const release = (): void => {
      if (held) emit(held);
      held = null;
    };
    const call: Call = {
      signal,
      answer: (answer: Answer) => {
        release();
        const message = create(ExecClientMessageSchema, { message: answer });
        // The last answer waits for the journal: once it is seen, it is never given differently.
        if (isOutput(message)) emit(message);
        else held = message;
      },
      begin: async () => {
        if (begun) return;
        begun = true;
        signal.throwIfAborted();
        await journal?.record(execId, []);
      },
    };
    try {
      await work(call);
      const answers = held === null ? sent : [...sent, held];
      // What had no effect can be done again: only answers that are small are worth keeping.
      if (answers.length > 0 && (begun || sizeOf(answers) <= limits.journalHarmlessBytes)) {
        // A full disk must not cost the answer. If it is lost after all, the begun mark keeps it from being done twice.
        await journal?.record(execId, bounded(answers)).catch(() => undefined);
      }
    } finally {
      release();
    }
  }
}

function isOutput({ message }: ExecClientMessage): boolean {
  if (message.case !== "shellStream") return false;
  const { event } = message.value;
  return event.case === "start" || event.case === "stdout" || event.case === "stderr";
}

function sizeOf(messages: readonly ExecClientMessage[]): number {
  return messages.reduce((sum, message) => sum + toBinary(ExecClientMessageSchema, message).length, 0);
}

/** A very long output is not kept whole: the beginning, a notice, and the event that ends it. */
function bounded(messages: readonly ExecClientMessage[]): ExecClientMessage[] {
  let room: number = limits.journalEntryBytes;
  const kept = messages.filter((message) => {
    if (!isOutput(message)) return true;
    room -= toBinary(ExecClientMessageSchema, message).length;
    return room >= 0;
  });
  if (kept.length === messages.length) return kept;
  const data = "\n[the rest of the output was not kept]\n";
  const notice: Answer = { case: "shellStream", value: { event: { case: "stdout", value: { data } } } };
  return [...kept.slice(0, -1), create(ExecClientMessageSchema, { message: notice }), ...kept.slice(-1)];
}
