import { addOutput, noOutput } from "./output.js";
import type { Phase } from "./phases.js";
import type { RunRecord } from "./records.js";
import * as sequence from "./sequence.js";
import type { CallState, ExecState, RunState, TurnEntry } from "./state.js";
import { addUsage } from "./usage.js";

/**
 * The only way state changes: a pure fold of one record (DESIGN.md "decide, evolve, reconcile").
 * Never fails on a record that `decide` produced; the same records always give the same state.
 */
export function evolve(state: RunState, record: RunRecord, at: number): RunState {
  return { ...fold(state, record, at), position: state.position + 1 };
}

function fold(state: RunState, record: RunRecord, at: number): RunState {
  switch (record.kind) {
    case "append-stored":
      return { ...state, sequence: sequence.store(state.sequence, record, at) };
    case "append-applied":
      return { ...state, sequence: sequence.apply(state.sequence, record.number, at) };
    case "numbers-seen":
      return { ...state, sequence: sequence.see(state.sequence, record.numbers, at) };
    case "gap-passed":
      return { ...state, sequence: sequence.pass(state.sequence, record.upTo, at) };
    case "run-accepted": {
      const { conversationId, model, tag, options } = record;
      return {
        ...state,
        request: { conversationId, model, tag, options, acceptedAt: at },
        facts: record.facts,
        blobs: { ...state.blobs, held: union(state.blobs.held, record.held) },
      };
    }
    case "facts-changed":
      return { ...state, facts: { ...state.facts, ...record.facts } };
    case "owner-changed":
      return { ...state, ownedSince: at, takeovers: state.takeovers + 1 };
    case "notice":
      return state;
    case "pass-started":
      return {
        ...state,
        passes: record.pass,
        lastEnd: null,
        phase: { kind: "provider_running", since: at, pass: record.pass, modelCallId: record.modelCallId },
      };
    case "text-added":
      return {
        ...state,
        block: {
          channel: record.channel,
          text: (state.block?.text ?? "") + record.text,
          since: state.block?.since ?? at,
        },
      };
    case "block-closed":
      return closeBlock(state, record, at);
    case "call-opened": {
      const { kind: _, ...call } = record;
      const held = [...state.calls.values()].some((one) => one.status !== "closed" && one.lock === record.lock);
      const status = record.lock !== undefined && held ? "queued" : "open";
      const opened: CallState = { ...call, openedAt: at, status, execs: [] };
      return {
        ...state,
        calls: new Map(state.calls).set(record.callId, opened),
        turn: [...state.turn, { kind: "call", pass: record.pass, callId: record.callId }],
      };
    }
    case "exec-opened": {
      const { exec, execId, callId, key } = record;
      const opened: ExecState = { exec, execId, callId, key, openedAt: at, status: "open" };
      const call = callId === null ? undefined : state.calls.get(callId);
      return atRest(
        {
          ...state,
          execs: new Map(state.execs).set(exec, opened),
          nextExec: exec + 1,
          calls: call
            ? new Map(state.calls).set(call.callId, { ...call, status: "open", execs: [...call.execs, exec] })
            : state.calls,
        },
        at,
      );
    }
    case "exec-output":
      return withExec(state, record.exec, (exec) => ({
        ...exec,
        output: addOutput(exec.output ?? noOutput, record.channel, record.text),
      }));
    case "exec-answered": {
      const bytes = record.number === undefined ? undefined : state.sequence.inbox.get(record.number);
      return withExec(state, record.exec, (exec) => ({
        ...exec,
        status: "answered",
        answeredAt: at,
        outcome: { how: record.how, bytes, error: record.error },
      }));
    }
    case "exec-close-seen":
      return withExec(state, record.exec, (exec) => ({ ...exec, closeSeenAt: at }));
    case "exec-closed":
      return withExec(state, record.exec, (exec) => ({ ...exec, status: "closed" }));
    case "call-closed": {
      const call = state.calls.get(record.callId);
      if (!call) return state;
      const { text, isError, toolCall, images } = record;
      const closed: CallState = {
        ...call,
        status: "closed",
        result: { text, isError, toolCall, images, closedAt: at },
      };
      return { ...stepDone(state), calls: new Map(state.calls).set(call.callId, closed) };
    }
    case "pass-ended": {
      const cut = record.reason === "interrupted";
      const closed = state.block ? closeBlock(state, { channel: state.block.channel }, at) : state;
      return {
        ...(record.reason === "blocked" ? closed : stepDone(closed)),
        usage: addUsage(closed.usage, record.usage),
        passUsage: record.usage.outputTokens > 0 ? record.usage : closed.passUsage,
        interruptions: cut ? closed.interruptions + 1 : 0,
        lastEnd: record.reason,
        phase: closed.phase.kind === "provider_running" ? { kind: "waiting_external", since: at } : closed.phase,
      };
    }
    case "noted":
      return { ...state, turn: [...state.turn, { kind: "note", pass: state.passes, note: record.note }] };
    case "blob-asked":
      return atRest(
        {
          ...state,
          blobs: {
            ...state.blobs,
            nextKv: record.kv + 1,
            asked: new Map(state.blobs.asked).set(record.kv, { blobId: record.blobId, at }),
          },
        },
        at,
      );
    case "blob-received": {
      const asked = new Map(state.blobs.asked);
      const blob = asked.get(record.kv)?.blobId;
      asked.delete(record.kv);
      const lost = record.found || !blob ? state.blobs.lost : union(state.blobs.lost, [blob]);
      const held = record.found && blob ? union(state.blobs.held, [blob]) : state.blobs.held;
      return { ...state, blobs: { ...state.blobs, asked, lost, held } };
    }
    case "checkpoint-projected": {
      const { revision, root, frame, needs } = record;
      return { ...state, checkpoint: { ...state.checkpoint, pending: { revision, root, frame, needs, since: at } } };
    }
    case "blob-offered":
      return {
        ...state,
        blobs: {
          ...state.blobs,
          nextKv: record.kv + 1,
          offered: new Map(state.blobs.offered).set(record.kv, { blobId: record.blobId, at }),
        },
      };
    case "blob-confirmed": {
      const offered = new Map(state.blobs.offered);
      const blob = offered.get(record.kv)?.blobId;
      offered.delete(record.kv);
      const held = record.ok && blob ? union(state.blobs.held, [blob]) : state.blobs.held;
      return { ...state, blobs: { ...state.blobs, offered, held } };
    }
    case "checkpoint-published":
    case "checkpoint-dropped":
      return {
        ...state,
        // A blob nobody confirmed is offered again with the next checkpoint.
        blobs: record.kind === "checkpoint-dropped" ? { ...state.blobs, offered: new Map() } : state.blobs,
        checkpoint: {
          ...state.checkpoint,
          settled: Math.max(state.checkpoint.settled, record.revision),
          pending: state.checkpoint.pending?.revision === record.revision ? null : state.checkpoint.pending,
        },
      };
    case "finishing":
      return { ...stepDone(state), phase: { kind: "checkpointing", since: at, outcome: record.outcome } };
    case "ended":
      return { ...state, phase: { kind: record.outcome.kind, since: at, outcome: record.outcome } as Phase };
  }
}

/** An idle run that asks its client something waits for it. */
function atRest(state: RunState, at: number): RunState {
  return state.phase.kind === "idle" ? { ...state, phase: { kind: "waiting_external", since: at } } : state;
}

function stepDone(state: RunState): RunState {
  return { ...state, checkpoint: { ...state.checkpoint, wanted: state.checkpoint.wanted + 1 } };
}

function closeBlock(
  state: RunState,
  record: Pick<Extract<RunRecord, { kind: "block-closed" }>, "channel" | "provider">,
  at: number,
): RunState {
  const text = state.block?.channel === record.channel ? state.block.text : "";
  const provider = record.provider ? { provider: record.provider } : {};
  const entry: TurnEntry =
    record.channel === "text"
      ? { kind: "text", pass: state.passes, text, ...provider }
      : { kind: "thinking", pass: state.passes, text, durationMs: at - (state.block?.since ?? at), ...provider };
  return {
    ...state,
    block: state.block?.channel === record.channel ? null : state.block,
    turn: [...state.turn, entry],
  };
}

function withExec(state: RunState, id: number, change: (exec: ExecState) => ExecState): RunState {
  const exec = state.execs.get(id);
  return exec ? { ...state, execs: new Map(state.execs).set(id, change(exec)) } : state;
}

function union<T>(set: ReadonlySet<T>, more: readonly T[]): ReadonlySet<T> {
  return more.length === 0 ? set : new Set([...set, ...more]);
}
