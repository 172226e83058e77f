import { describe, expect, it } from "vitest";
import { evolve } from "./evolve.js";
import type { RunOptions, RunRecord } from "./records.js";
import { newRun, type RunState } from "./state.js";
import { noUsage } from "./usage.js";

const options: RunOptions = { disconnectGraceMs: 1, maxPasses: 2, totalMs: 3 };
const usage = { ...noUsage, inputTokens: 5, outputTokens: 7 };
const empty = newRun({ requestId: "r", generation: 0 }, 10);

/** Folds records, the first at 11, each a millisecond after the one before. */
function fold(...records: readonly RunRecord[]): RunState {
  return records.reduce((state, record) => evolve(state, record, 11 + state.position), empty);
}

const accepted: RunRecord = {
  kind: "run-accepted",
  conversationId: "c",
  model: "m",
  tag: "t",
  facts: { mode: "agent" },
  options,
  held: ["aa"],
};
const started = (pass: number): RunRecord => ({ kind: "pass-started", pass, modelCallId: `mc_${pass}` });
const said = (text: string, channel: "text" | "thinking" = "text"): RunRecord => ({
  kind: "text-added",
  channel,
  text,
});
const called = (callId: string, lock?: string): RunRecord => ({
  kind: "call-opened",
  callId,
  pass: 1,
  name: "read",
  args: "{}",
  complete: true,
  lock,
});
const endedPass = (reason: "stop" | "blocked" | "interrupted"): RunRecord => ({
  kind: "pass-ended",
  pass: 1,
  reason,
  usage,
});

describe("evolve", () => {
  it("counts positions by one and changes nothing it is given", () => {
    const before = structuredClone(empty);
    expect(evolve(empty, { kind: "notice" }, 99)).toEqual({ ...empty, position: 1 });
    expect(empty).toEqual(before);
  });

  it("takes the request with its options and the time it was accepted (I-38)", () => {
    expect(fold(accepted)).toEqual({
      ...empty,
      position: 1,
      request: { conversationId: "c", model: "m", tag: "t", options, acceptedAt: 11 },
      facts: { mode: "agent" },
      blobs: { ...empty.blobs, held: new Set(["aa"]) },
    });
  });

  it("makes one entry of the deltas of a block, with its provider data", () => {
    const provider = { provider: "p", model: "m", data: { signature: "s" } };
    const state = fold(
      accepted,
      started(1),
      said("th", "thinking"),
      said("ink", "thinking"),
      { kind: "block-closed", channel: "thinking", provider },
      said("Hi"),
    );
    expect(state.turn).toEqual([{ kind: "thinking", pass: 1, text: "think", durationMs: 2, provider }]);
    expect(state.block).toEqual({ channel: "text", text: "Hi", since: 16 });
  });

  it("keeps provider data that came without a visible block (I-113)", () => {
    const provider = { provider: "p", model: "m", data: "encrypted" };
    const state = fold(accepted, started(1), { kind: "block-closed", channel: "thinking", provider });
    expect(state.turn).toEqual([{ kind: "thinking", pass: 1, text: "", durationMs: 0, provider }]);
  });

  it("keeps the open block of a pass that ends, and counts a cut [part of D2]", () => {
    const state = fold(accepted, started(1), said("half"), endedPass("interrupted"));
    expect(state).toEqual({
      ...fold(accepted),
      position: 4,
      phase: { kind: "waiting_external", since: 14 },
      passes: 1,
      lastEnd: "interrupted",
      interruptions: 1,
      block: null,
      turn: [{ kind: "text", pass: 1, text: "half" }],
      checkpoint: { wanted: 1, settled: 0, pending: null },
      usage,
      passUsage: usage,
    });
    expect(evolve(evolve(state, started(2), 20), { ...endedPass("stop"), pass: 2 } as RunRecord, 21)).toMatchObject({
      interruptions: 0,
      usage: { ...usage, inputTokens: 10, outputTokens: 14 },
    });
  });

  it("counts a pass that never reached the model, and completes no step", () => {
    expect(fold(accepted, started(1), endedPass("blocked"))).toMatchObject({
      passes: 1,
      lastEnd: "blocked",
      checkpoint: { wanted: 0 },
    });
  });

  it("queues a call behind an open one with its lock, and behind no other", () => {
    const state = fold(accepted, started(1), called("a", "x"), called("b", "x"), called("c", "y"), called("d"));
    const status = (of: RunState) => [...of.calls.values()].map((call) => `${call.callId} ${call.status}`);
    expect(status(state)).toEqual(["a open", "b queued", "c open", "d open"]);
    const exec: RunRecord = { kind: "exec-opened", exec: 1, execId: "e1", callId: "b", key: "k" };
    expect(status(evolve(state, exec, 20))).toEqual(["a open", "b open", "c open", "d open"]);
  });

  it("moves the bytes of an answer from the inbox to the execution", () => {
    const bytes = Uint8Array.of(7);
    const state = fold(
      accepted,
      { kind: "exec-opened", exec: 1, execId: "e1", callId: null, key: "request-context" },
      { kind: "append-stored", number: 1, hash: "h", bytes, alsoSeen: [], starts: true },
      { kind: "exec-answered", exec: 1, how: "answered", number: 1 },
      { kind: "append-applied", number: 1 },
    );
    expect(state.phase).toEqual({ kind: "waiting_external", since: 12 });
    expect(state.execs).toEqual(
      new Map([
        [
          1,
          {
            exec: 1,
            execId: "e1",
            callId: null,
            key: "request-context",
            openedAt: 12,
            status: "answered",
            answeredAt: 14,
            outcome: { how: "answered", bytes, error: undefined },
          },
        ],
      ]),
    );
    expect(state.sequence).toMatchObject({ inbox: new Map(), inboxBytes: 0, next: 2 });
  });

  it("remembers what the client does not have, and what it has", () => {
    const state = fold(
      accepted,
      { kind: "blob-asked", kv: 1, blobId: "b1" },
      { kind: "blob-asked", kv: 2, blobId: "b2" },
      { kind: "blob-received", kv: 1, found: true },
      { kind: "blob-received", kv: 2, found: false },
      { kind: "blob-offered", kv: 3, blobId: "b3" },
      { kind: "blob-confirmed", kv: 3, ok: true },
    );
    expect(state.blobs).toEqual({
      nextKv: 4,
      asked: new Map(),
      lost: new Set(["b2"]),
      offered: new Map(),
      held: new Set(["aa", "b1", "b3"]),
    });
  });

  it("settles the newest checkpoint that was published or given up, and offers again after a drop", () => {
    const offered = fold(
      accepted,
      { kind: "checkpoint-projected", revision: 1, root: "r", frame: Uint8Array.of(1), needs: ["b1"] },
      { kind: "blob-offered", kv: 1, blobId: "b1" },
    );
    expect(offered.checkpoint.pending).toMatchObject({ revision: 1, since: 12 });
    const dropped = evolve(offered, { kind: "checkpoint-dropped", revision: 1, why: "no" }, 20);
    expect(dropped.checkpoint).toEqual({ wanted: 0, settled: 1, pending: null });
    expect(dropped.blobs.offered).toEqual(new Map());
    const published = evolve(offered, { kind: "checkpoint-published", revision: 1 }, 20);
    expect(published.checkpoint).toEqual({ wanted: 0, settled: 1, pending: null });
    expect(evolve(dropped, { kind: "checkpoint-dropped", revision: 0, why: "old" }, 21).checkpoint.settled).toBe(1);
  });

  it("is harmless with records about things it does not know", () => {
    const state = fold(accepted);
    const unknown: readonly RunRecord[] = [
      { kind: "exec-answered", exec: 9, how: "silent" },
      { kind: "exec-output", exec: 9, channel: "stdout", text: "x" },
      { kind: "exec-close-seen", exec: 9 },
      { kind: "exec-closed", exec: 9 },
      { kind: "call-closed", callId: "no", text: "", isError: true, toolCall: Uint8Array.of(), images: [] },
      { kind: "blob-received", kv: 9, found: true },
      { kind: "blob-confirmed", kv: 9, ok: true },
      { kind: "append-applied", number: 9 },
    ];
    for (const record of unknown) {
      const { sequence, ...rest } = evolve(state, record, 50);
      const { sequence: before, ...expected } = state;
      expect(rest).toEqual({ ...expected, position: 2 });
      expect(sequence.inboxBytes).toBe(before.inboxBytes);
    }
  });

  it("ends with the outcome of its last record", () => {
    const outcome = { kind: "completed" } as const;
    const finishing = fold(accepted, { kind: "finishing", outcome });
    expect(finishing.phase).toEqual({ kind: "checkpointing", since: 12, outcome });
    expect(evolve(finishing, { kind: "ended", outcome }, 30).phase).toEqual({ kind: "completed", since: 30, outcome });
  });
});
