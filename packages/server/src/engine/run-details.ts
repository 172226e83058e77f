import { evolve } from "../run/evolve.js";
import type { RunKey } from "../run/ids.js";
import { type Outcome, outcomeOf } from "../run/phases.js";
import { newRun, openExecs, type RunState } from "../run/state.js";
import type { Usage } from "../run/usage.js";
import type { LogRun, RunLog } from "./ports.js";
import { decodeRecord } from "./record-codec.js";

/** The part of a log that a look at a run needs. */
export interface RunLookup extends Pick<RunLog, "newest" | "read"> {
  find(key: RunKey): Promise<LogRun | undefined>;
}

/** A run as a person looks at it: plain JSON, times as ISO texts. */
export interface RunDetails {
  readonly requestId: string;
  readonly generation: number;
  readonly conversationId: string | null;
  readonly model: string | null;
  readonly phase: string;
  readonly outcome: Outcome | null;
  readonly createdAt: string;
  /** When it entered the phase. */
  readonly since: string;
  /** Number of its records, which is the position of the last one. */
  readonly position: number;
  readonly passes: number;
  /** How often another process took it over. */
  readonly takeovers: number;
  readonly calls: readonly { readonly callId: string; readonly name: string; readonly status: string }[];
  /** What the client has not answered yet. */
  readonly openExecutions: readonly { readonly execId: string; readonly key: string; readonly since: string }[];
  readonly usage: Usage;
}

/**
 * The run that a name means: a request id, which stands for its newest run, or a request id with `#` and a generation.
 * Undefined when there is none.
 */
export async function lookUpRun(log: RunLookup, name: string): Promise<LogRun | undefined> {
  const newest = await log.newest(name);
  if (newest) return newest;
  const [, requestId, generation] = /^(.+)#(\d{1,9})$/.exec(name) ?? [];
  return requestId === undefined ? undefined : log.find({ requestId, generation: Number(generation) });
}

/** Folds a run's log. Rejects with FaultError `run/unreadable` when it is damaged or of a newer version. */
export async function foldRun(log: Pick<RunLog, "read">, row: Pick<LogRun, "key" | "createdAt">): Promise<RunState> {
  let state = newRun(row.key, row.createdAt);
  for (;;) {
    const records = await log.read(row.key, state.position, batch);
    for (const record of records) state = evolve(state, decodeRecord(record), record.at);
    if (records.length < batch) return state;
  }
}

const batch = 512;

/** What there is to see of a run. */
export function describeRun(state: RunState): RunDetails {
  const { key, request, phase, calls } = state;
  return {
    ...key,
    conversationId: request?.conversationId ?? null,
    model: request?.model ?? null,
    phase: phase.kind,
    outcome: outcomeOf(phase) ?? (phase.kind === "checkpointing" ? phase.outcome : null),
    createdAt: timeOf(state.createdAt),
    since: timeOf(phase.since),
    position: state.position,
    passes: state.passes,
    takeovers: state.takeovers,
    calls: [...calls.values()].map(({ callId, name, status, result }) => ({
      callId,
      name,
      status: status === "closed" && result?.isError ? "failed" : status,
    })),
    openExecutions: openExecs(state).map(({ execId, key: part, openedAt }) => ({
      execId,
      key: part,
      since: timeOf(openedAt),
    })),
    usage: state.usage,
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
