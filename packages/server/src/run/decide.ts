import type { Answer } from "./answer.js";
import { decideAppend } from "./decide-append.js";
import { decideProjection } from "./decide-checkpoint.js";
import { cancelRun, failRun, settle } from "./decide-end.js";
import { decidePass } from "./decide-pass.js";
import { decideTimer } from "./decide-timer.js";
import { Draft, type RecordDraft, type World } from "./draft.js";
import { fault } from "./faults.js";
import type { RunInput } from "./inputs.js";
import { outcomeOf } from "./phases.js";
import type { RunState } from "./state.js";

export interface Decision {
  readonly answer: Answer;
  readonly records: readonly RecordDraft[];
  /** The state after the records: the same as folding them. */
  readonly state: RunState;
}

/**
 * Decides what an input does to a run: the records to store, in order. Pure: the shell stores them, publishes
 * their frames and then compares `wanted` with what is going on (DESIGN.md).
 */
export function decide(state: RunState, input: RunInput, world: World): Decision {
  const draft = new Draft(state, world);
  const answer = answerTo(draft, input);
  if (answer.kind === "refused") return { answer, records: [], state };
  if (draft.records.length > 0) settle(draft);
  return { answer, records: draft.records, state: draft.state };
}

function answerTo(draft: Draft, input: RunInput): Answer {
  if (input.kind === "append") return decideAppend(draft, input);
  if (outcomeOf(draft.state.phase)) return { kind: "late" };
  switch (input.kind) {
    case "numbers":
      return decideAppend(draft, input);
    case "pass":
      return decidePass(draft, input.pass, input.event);
    case "projected":
    case "projection-failed":
      return decideProjection(draft, input);
    case "timer":
      decideTimer(draft, input.timer);
      return { kind: "accepted" };
    case "cancel":
      cancelRun(draft, input.fault);
      return { kind: "accepted" };
    case "stop":
      failRun(draft, fault("server/stopping", "The server is stopping. Send the message again in a moment."));
      return { kind: "accepted" };
    case "taken-over":
      draft.add({ kind: "owner-changed" });
      if (draft.state.phase.kind === "provider_running") {
        decidePass(draft, draft.state.phase.pass, { kind: "interrupted" });
      }
      return { kind: "accepted" };
  }
}
