import { describe, expect, it } from "vitest";
import { evolve } from "./evolve.js";
import { noSigns, type Signs } from "./inputs.js";
import { defaultLimits as limits } from "./limits.js";
import type { RunRecord } from "./records.js";
import { newRun, type RunState } from "./state.js";
import { deadlines, wanted } from "./wanted.js";

const options = { disconnectGraceMs: 40_000, maxPasses: 2, totalMs: 1_000_000 };
const listening: Signs = { ...noSigns, subscribers: 1, everSubscribed: true };
const empty = newRun({ requestId: "r", generation: 0 }, 1_000);
const accepted: RunRecord = {
  kind: "run-accepted",
  conversationId: "c",
  model: "m",
  tag: "t",
  facts: {},
  options,
  held: [],
};
const opened: RunRecord = { kind: "exec-opened", exec: 1, execId: "e1", callId: "c1", key: "k" };
const total = { name: "total", at: 1_002_000 };

/** Folds records at 2 s. */
function at2s(...records: readonly RunRecord[]): RunState {
  return records.reduce((state, record) => evolve(state, record, 2_000), empty);
}

function takenOver(state: RunState, at: number): RunState {
  return evolve(state, { kind: "owner-changed" }, at);
}

describe("deadlines (R8)", () => {
  it("gives a run that never began a time to begin, counted again by a new owner", () => {
    expect(deadlines(empty, noSigns, limits)).toEqual([{ name: "start", at: 61_000 }]);
    expect(deadlines(takenOver(empty, 5_000), noSigns, limits)).toEqual([{ name: "start", at: 65_000 }]);
  });

  it("waits for a missing append, and after a change of owner only as long as a resend takes (A1)", () => {
    const append = { number: 5, hash: "h", bytes: Uint8Array.of(1), alsoSeen: [], starts: false };
    const state = at2s(accepted, { kind: "append-stored", ...append });
    expect(deadlines(state, listening, limits)).toEqual([{ name: "gap", at: 32_000 }, total]);
    expect(deadlines(takenOver(state, 9_000), listening, limits)).toEqual([{ name: "gap", at: 12_000 }, total]);
  });

  it("counts the grace from when the last subscriber left, and gives the first one time to come (R5)", () => {
    const state = at2s(accepted, opened);
    const left = { ...noSigns, absentSince: 7_000, everSubscribed: true };
    expect(deadlines(state, left, limits)).toEqual([total, { name: "grace", at: 47_000 }]);
    const short = at2s({ ...accepted, options: { ...options, disconnectGraceMs: 1 } }, opened);
    const names = (signs: Signs) => deadlines(short, signs, limits).find(({ name }) => name === "grace");
    expect(names(left)).toEqual({ name: "grace", at: 7_001 });
    expect(names({ ...left, everSubscribed: false })).toEqual({ name: "grace", at: 37_000 });
  });

  it("gives an execution long to answer, and less between signs of life once it gave one", () => {
    const state = at2s(accepted, opened);
    const silent = (signs: Signs) => deadlines(state, signs, limits).filter(({ name }) => name === "exec-silent:1");
    expect(silent(listening)).toEqual([{ name: "exec-silent:1", at: 602_000 }]);
    expect(silent({ ...listening, execAt: new Map([[1, 5_000]]) })).toEqual([{ name: "exec-silent:1", at: 65_000 }]);
    expect(silent(noSigns)).toEqual([]);
  });

  it("does not wait long for the request context", () => {
    const state = at2s(accepted, { ...opened, callId: null });
    expect(deadlines(state, listening, limits)).toEqual([total, { name: "exec-silent:1", at: 17_000 }]);
  });

  it("bounds a close without a result and a result without a close, each counted again by a new owner (P8) [part of D1]", () => {
    const close = { name: "exec-close:1", at: 3_500 };
    const seen = at2s(accepted, opened, { kind: "exec-close-seen", exec: 1 });
    const answered = at2s(accepted, opened, { kind: "exec-answered", exec: 1, how: "answered" });
    for (const state of [seen, answered]) {
      expect(deadlines(state, listening, limits)).toContainEqual(close);
      expect(deadlines(takenOver(state, 9_000), listening, limits)).toContainEqual({ ...close, at: 10_500 });
    }
    const closed = evolve(answered, { kind: "exec-closed", exec: 1 }, 2_000);
    expect(deadlines(closed, listening, limits)).toEqual([total]);
  });

  it("bounds every blob question by itself", () => {
    const state = at2s(
      accepted,
      { kind: "blob-asked", kv: 1, blobId: "aa" },
      { kind: "blob-asked", kv: 2, blobId: "bb" },
    );
    expect(deadlines(state, listening, limits)).toEqual([
      total,
      { name: "blob-ask:1", at: 12_000 },
      { name: "blob-ask:2", at: 12_000 },
    ]);
  });

  it("takes any report of the running pass as a sign of life, and none of an earlier one", () => {
    const state = at2s(accepted, { kind: "pass-started", pass: 1, modelCallId: "mc" });
    const silent = (passAt: number | null) => deadlines(state, { ...listening, passAt }, limits).at(-1);
    expect(silent(null)).toEqual({ name: "pass-silent", at: 902_000 });
    expect(silent(1_000)).toEqual({ name: "pass-silent", at: 902_000 });
    expect(silent(4_000)).toEqual({ name: "pass-silent", at: 904_000 });
  });

  it("bounds what is left of a finishing run by its checkpoint alone (W8)", () => {
    const state = at2s(accepted, { kind: "finishing", outcome: { kind: "completed" } });
    const left = { ...noSigns, absentSince: 0, everSubscribed: true };
    expect(wanted(state, left, limits)).toEqual({
      pass: null,
      projection: 1,
      deadlines: [{ name: "checkpoint", at: 12_000 }],
    });
  });
});

describe("what is wanted", () => {
  it("wants the pass of its phase, and one checkpoint at a time", () => {
    const state = at2s(accepted, { kind: "pass-started", pass: 1, modelCallId: "mc" });
    expect(wanted(state, listening, limits)).toMatchObject({ pass: 1, projection: null });
    const stepped = { ...state, checkpoint: { wanted: 3, settled: 1, pending: null } };
    expect(wanted(stepped, listening, limits)).toMatchObject({ pass: 1, projection: 3 });
    const pending = { revision: 2, root: "r", frame: Uint8Array.of(), needs: [], since: 2_000 };
    const offered = { ...stepped, checkpoint: { ...stepped.checkpoint, pending } };
    expect(wanted(offered, listening, limits)).toMatchObject({ pass: 1, projection: null });
  });

  it("wants nothing at the end", () => {
    const state = at2s(accepted, opened, { kind: "ended", outcome: { kind: "completed" } });
    expect(wanted(state, listening, limits)).toEqual({ pass: null, projection: null, deadlines: [] });
  });
});
