import type { AgentClientMessage } from "@keyturn/protocol/agent";
import type { Answer } from "./answer.js";
import { decideMessage, isAnswer, isKv, startsRun } from "./decide-message.js";
import type { Draft } from "./draft.js";
import { fault } from "./faults.js";
import type { RunInput } from "./inputs.js";
import { outcomeOf } from "./phases.js";
import { classify, isNext, nextNumber, ready } from "./sequence.js";

type AppendInput = Extract<RunInput, { kind: "append" | "numbers" }>;

/** Accepts an append, and lets every message whose turn has come have its effect (A1-A5). */
export function decideAppend(draft: Draft, input: AppendInput): Answer {
  if (input.kind === "numbers") {
    draft.add({ kind: "numbers-seen", numbers: input.numbers });
    deliver(draft, undefined);
    return { kind: "accepted" };
  }
  const { sequence } = draft.state;
  const number = input.number === "next" ? nextNumber(sequence) : input.number;
  const arrival = classify(sequence, number, input.hash);
  if (arrival === "duplicate") return { kind: "duplicate" };
  // A run that has ended keeps nothing any more; what still arrives is late.
  if (outcomeOf(draft.state.phase)) return { kind: "late" };
  if (arrival === "conflict") {
    const detail = `Append number ${number} was accepted before with other bytes; it must not be used again.`;
    return { kind: "refused", fault: fault("append/conflict", detail) };
  }
  const { limits } = draft.world;
  const { hash, bytes, alsoSeen, message } = input;
  const starts = startsRun(message);
  const full = sequence.inbox.size >= limits.inboxCount || sequence.inboxBytes >= limits.inboxBytes;
  // What has its effect at once takes no room; it may be the very one the others wait for.
  if (full && !isKv(message) && !isNext(sequence, { number, starts })) {
    const detail = `${sequence.inbox.size} appends wait for an earlier one. Send the missing append, number ${sequence.next ?? 0}, first.`;
    return { kind: "refused", fault: fault("append/overflow", detail) };
  }
  draft.add({ kind: "append-stored", number, hash, bytes, alsoSeen, starts });
  deliver(draft, { number, input });
  return hadNoEffect(draft, number, message) ? { kind: "accepted", late: true } : { kind: "accepted" };
}

/** An answer to something that is unknown, closed or answered already: kept, and told apart so that it is counted (C2). */
function hadNoEffect(draft: Draft, number: number, message: AgentClientMessage): boolean {
  return draft.records.length === 2 && isAnswer(message) && !draft.state.sequence.inbox.has(number);
}

function deliver(draft: Draft, arrived: { number: number; input: AppendInput & { kind: "append" } } | undefined): void {
  // Answers about blobs never wait behind a missing number: the one who waits may be waiting for them (A5).
  if (arrived && isKv(arrived.input.message)) applyOne(draft, arrived.number, arrived.input);
  for (let next = ready(draft.state.sequence); next; next = ready(draft.state.sequence)) {
    const own = arrived?.number === next.number ? arrived.input : undefined;
    applyOne(draft, next.number, own ?? { message: draft.world.logic.decode(next.bytes) });
  }
}

function applyOne(
  draft: Draft,
  number: number,
  input: Pick<AppendInput & { kind: "append" }, "message"> & Partial<AppendInput & { kind: "append" }>,
): void {
  decideMessage(draft, number, input.message, input.options);
  draft.add({ kind: "append-applied", number });
}
