import type { Signs } from "./inputs.js";
import type { CoreLimits } from "./limits.js";
import { outcomeOf } from "./phases.js";
import { openExecs, type RunState } from "./state.js";

/** A moment at which the run must be looked at again, with a name that says why (R8). */
export interface Deadline {
  readonly name: string;
  readonly at: number;
}

/** What should be going on in the world while a run is in this state. */
export interface Wanted {
  /** The provider pass that should be running. */
  readonly pass: number | null;
  /** The checkpoint revision that should be projected. */
  readonly projection: number | null;
  readonly deadlines: readonly Deadline[];
}

/** Pure: the shell compares this with what is going on, and starts and stops the difference (DESIGN.md). */
export function wanted(state: RunState, signs: Signs, limits: CoreLimits): Wanted {
  if (outcomeOf(state.phase)) return { pass: null, projection: null, deadlines: [] };
  const { checkpoint } = state;
  const project = state.request !== null && !checkpoint.pending && checkpoint.wanted > checkpoint.settled;
  return {
    pass: state.phase.kind === "provider_running" ? state.phase.pass : null,
    projection: project ? checkpoint.wanted : null,
    deadlines: deadlines(state, signs, limits),
  };
}

/** Every deadline of the state: computed from records and signs, so that it is the same after a restart. */
export function deadlines(state: RunState, signs: Signs, limits: CoreLimits): readonly Deadline[] {
  if (outcomeOf(state.phase)) return [];
  return [
    ...lifeDeadlines(state, signs, limits),
    ...execDeadlines(state, signs, limits),
    ...[...state.blobs.asked].map(([kv, asked]) => ({
      name: `blob-ask:${kv}`,
      at: from(state, asked.at) + limits.blobMs,
    })),
    ...checkpointDeadlines(state, signs, limits),
  ];
}

function lifeDeadlines(state: RunState, signs: Signs, limits: CoreLimits): readonly Deadline[] {
  // A finishing run has its outcome: the last checkpoint and the closing of executions bound what is left of it.
  if (state.phase.kind === "checkpointing") return [];
  const found: Deadline[] = [];
  if (!state.request && state.phase.kind === "idle")
    found.push({ name: "start", at: from(state, state.createdAt) + limits.startMs });
  if (state.sequence.gapSince !== null) {
    const takenOver = state.takeovers > 0;
    const waitMs = takenOver ? limits.gapAfterTakeoverMs : limits.appendGapMs;
    found.push({ name: "gap", at: from(state, state.sequence.gapSince) + waitMs });
  }
  if (state.request) {
    found.push({ name: "total", at: state.request.acceptedAt + state.request.options.totalMs });
    if (signs.subscribers === 0 && signs.absentSince !== null) {
      const grace = state.request.options.disconnectGraceMs;
      const waitMs = signs.everSubscribed ? grace : Math.max(grace, limits.firstSubscriberMs);
      found.push({ name: "grace", at: signs.absentSince + waitMs });
    }
  }
  if (state.phase.kind === "provider_running") {
    found.push({ name: "pass-silent", at: Math.max(state.phase.since, signs.passAt ?? 0) + limits.passSilenceMs });
  }
  return found;
}

function execDeadlines(state: RunState, signs: Signs, limits: CoreLimits): readonly Deadline[] {
  const found: Deadline[] = [];
  for (const exec of state.execs.values()) {
    const closing =
      exec.status === "answered" ? exec.answeredAt : exec.status === "open" ? exec.closeSeenAt : undefined;
    if (closing === undefined) continue;
    found.push({ name: `exec-close:${exec.exec}`, at: from(state, closing) + limits.execCloseGraceMs });
  }
  // While nobody is connected nobody can answer: the grace decides, not the clocks of executions (I-10).
  if (signs.subscribers === 0) return found;
  for (const exec of openExecs(state)) {
    const opened = from(state, exec.openedAt);
    const sign = signs.execAt.get(exec.exec);
    const silenceMs = sign === undefined ? limits.execUnansweredMs : limits.execSilenceMs;
    const waitMs = exec.callId === null ? limits.contextMs : silenceMs;
    found.push({ name: `exec-silent:${exec.exec}`, at: Math.max(opened, sign ?? 0) + waitMs });
  }
  return found;
}

function checkpointDeadlines(state: RunState, signs: Signs, limits: CoreLimits): readonly Deadline[] {
  const { pending, wanted: revision, settled } = state.checkpoint;
  if (pending) {
    const at = from(state, pending.since) + limits.blobMs;
    // Blobs that nobody is there to take are not waited for.
    const leftAt = signs.subscribers === 0 && signs.everSubscribed ? (signs.absentSince ?? at) : at;
    return [{ name: "checkpoint", at: Math.min(at, Math.max(leftAt, pending.since) + limits.execCloseGraceMs) }];
  }
  // A projection that never comes must not keep a finished turn from ending.
  if (state.phase.kind === "checkpointing" && revision > settled) {
    return [{ name: "checkpoint", at: from(state, state.phase.since) + limits.blobMs }];
  }
  return [];
}

/** Time in which no owner was there does not count against the client. */
function from(state: RunState, at: number): number {
  return Math.max(at, state.ownedSince);
}
