import { abandonCall, modelCallIdOf } from "./decide-call.js";
import type { Draft } from "./draft.js";
import { endPass } from "./end-pass.js";
import { type Fault, fault } from "./faults.js";
import { abortFrame, deltaFrame, stepStartedFrame, turnEndedFrame } from "./frames.js";
import { type Outcome, outcomeOf } from "./phases.js";
import { openCalls, openExecs, type RunState } from "./state.js";
import { noUsage } from "./usage.js";

/** Ends the run because somebody wants it ended; what was shown stays, what was open is closed (R8). */
export function cancelRun(draft: Draft, cause: Fault): void {
  finish(draft, { kind: "canceled", fault: cause });
}

/** Ends the run because it cannot go on. The reason is also shown as text: SDK callers read no error (P20). */
export function failRun(draft: Draft, cause: Fault): void {
  if (isFinishing(draft.state)) return;
  if (draft.state.phase.kind === "provider_running") endPass(draft, "failed", noUsage, cause);
  draft.notice(deltaFrame("text", `\n\n[${cause.title}] ${cause.detail}\n`));
  finish(draft, { kind: "failed", fault: cause });
}

/** True once the outcome is known: nothing new begins any more. */
export function isFinishing(state: RunState): boolean {
  return state.phase.kind === "checkpointing" || outcomeOf(state.phase) !== undefined;
}

function finish(draft: Draft, outcome: Outcome): void {
  const { phase } = draft.state;
  if (outcomeOf(phase)) return;
  // A cancel overtakes a completion that is still writing its checkpoint; nothing else does.
  if (phase.kind === "checkpointing" && (outcome.kind !== "canceled" || phase.outcome.kind !== "completed")) return;
  if (phase.kind === "provider_running") endPass(draft, "interrupted", noUsage);
  for (const exec of openExecs(draft.state)) {
    draft.notice(abortFrame(exec.exec));
    draft.add({ kind: "exec-answered", exec: exec.exec, how: "aborted" });
    draft.add({ kind: "exec-closed", exec: exec.exec });
  }
  const why =
    outcome.kind === "canceled"
      ? "The run was canceled before the result came."
      : "The run failed before the result came.";
  for (const call of openCalls(draft.state)) abandonCall(draft, call, why);
  draft.add({ kind: "finishing", outcome });
}

/** Starts the next pass, within the run's limits (U1). */
export function startPass(draft: Draft): void {
  const { request, passes } = draft.state;
  if (!request) return;
  if (passes >= request.options.maxPasses) {
    const detail = `The turn took ${passes} model calls, the limit. Send "continue" to go on, or raise limits.maxPasses.`;
    return failRun(draft, fault("run/limit", detail));
  }
  const pass = passes + 1;
  draft.add({ kind: "pass-started", pass, modelCallId: modelCallIdOf(draft, pass) }, { frame: stepStartedFrame(pass) });
}

/**
 * Brings a run to rest after its records: starts the pass that is due, finishes a turn whose model is done, and
 * ends a finishing run once its checkpoint is settled and its executions are closed (P8, W8).
 */
export function settle(draft: Draft): void {
  const { phase } = draft.state;
  if (phase.kind === "waiting_external") settleWaiting(draft);
  if (draft.state.phase.kind === "checkpointing") settleFinishing(draft, draft.state.phase.outcome);
}

function settleWaiting(draft: Draft): void {
  const { state } = draft;
  if (!state.request || openExecs(state).length > 0 || openCalls(state).length > 0 || state.blobs.asked.size > 0)
    return;
  const last = state.turn.filter((entry) => entry.pass === state.passes);
  const goesOn = last.some((entry) => entry.kind === "call" || entry.kind === "note");
  if (state.passes === 0 || goesOn || state.lastEnd === "blocked") return startPass(draft);
  if (last.some((entry) => entry.kind === "text" && entry.text.trim() !== "")) {
    return finish(draft, { kind: "completed" });
  }
  if (state.lastEnd === "content-filter") {
    return failRun(
      draft,
      fault("model/filtered", "The provider withheld the answer. Rephrase the message and try again."),
    );
  }
  // The model said nothing at all: one nudge, then a visible end (I-101).
  const nudged = state.turn.some((entry) => entry.kind === "note" && entry.note === "empty");
  if (nudged) {
    const detail = "The model answered twice with neither text nor a tool call. Try again, or choose another model.";
    return failRun(draft, fault("model/empty", detail));
  }
  draft.add({ kind: "noted", note: "empty" });
  startPass(draft);
}

function settleFinishing(draft: Draft, outcome: Outcome): void {
  const { request, checkpoint, execs } = draft.state;
  if ([...execs.values()].some((exec) => exec.status !== "closed")) return;
  // Without a request there is no conversation to keep.
  if (request && checkpoint.settled < checkpoint.wanted) return;
  draft.notice(turnEndedFrame(draft.state.usage));
  draft.add({ kind: "ended", outcome });
}
