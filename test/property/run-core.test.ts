import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "../../packages/server/src/run/decide.js";
import type { RecordKind } from "../../packages/server/src/run/records.js";
import { begin } from "./support/client-steps.js";
import { canonical } from "./support/encoding.js";
import { checkPure, Ledger } from "./support/ledger.js";
import { checkRest, runDry } from "./support/rest-rule.js";
import { walks } from "./support/run-commands.js";
import { RunDriver } from "./support/run-driver.js";

/**
 * The core under random walks. Each step is decided, logged, folded and checked against the model in
 * `support/ledger.ts` (what may follow what), `support/sequence-model.ts` (the order of appends) and
 * `support/rest-rule.ts` (R8: reasons and deadlines). No wall clock and no randomness beside fast-check's seed.
 *
 * A failure prints its seed and path. The first number of the path is the walk: run it again with KEYTURN_SEED and
 * KEYTURN_PATH set to these, and pin it below. KEYTURN_RUNS says how many walks there are.
 */
const pinned: readonly { readonly seed: number; readonly path: string; readonly why: string }[] = [
  { seed: 897201276, path: "0", why: "the total deadline passed while the last checkpoint was written" },
  { seed: 192885840, path: "118", why: "a message with the number 0 came before the run request with the number 1" },
  { seed: 700102777, path: "30", why: "a cancel started the call that waited for a lock" },
  { seed: 1875921909, path: "61", why: "a heartbeat repeated the number of a waiting append" },
  { seed: -338145256, path: "9", why: "a blob answer was refused because the inbox was full" },
  { seed: -1655727976, path: "10", why: "a late projection failure hid the pending checkpoint" },
  { seed: -1104056447, path: "87", why: "a run request waited behind the cancel that ended the run" },
];

const seed = process.env["KEYTURN_SEED"];
const chosen = seed === undefined ? {} : { seed: Number(seed), path: process.env["KEYTURN_PATH"] ?? "" };
const runs = Number(process.env["KEYTURN_RUNS"] ?? 600);

const seen = new Set<RecordKind>();
const ends = new Set<string>();

const walk = fc.property(walks, ([base, conversation, commands]) => {
  const ledger = new Ledger();
  const driver: RunDriver = new RunDriver((before, input, decision) => {
    ledger.observe(before, input, decision);
    // Every fourth: the check costs as much as all the others together.
    if (before.position % 4 === 0) checkPure(before, input, decision, () => decide(before, input, driver.world));
  });
  const drive = begin(driver, base, conversation);
  fc.modelRun(() => ({ model: ledger, real: drive }), commands);
  for (const kind of ledger.seen) seen.add(kind);

  assert.equal(canonical(driver.refold()), canonical(driver.state), "the log alone gives the state");
  const dry = new Ledger();
  for (const passes of ["fail", "silent", "empty"] as const) {
    const ahead = driver.fork((_before, _input, { records }) => {
      for (const { record } of records) dry.seen.add(record.kind);
    });
    runDry(ahead, passes);
    const kinds = ahead.log.map((text) => (JSON.parse(text) as { record: { kind: RecordKind } }).record.kind);
    assert.deepEqual(
      [kinds.filter((kind) => kind === "ended").length, kinds.at(-1)],
      [1, "ended"],
      "one end, and last",
    );
  }
  ends.add(driver.state.phase.kind);
  runDry(driver, "silent");
  checkRest(driver);
  for (const kind of ledger.seen) seen.add(kind);
  ends.add(driver.state.phase.kind);
});

describe("the core of a run under random walks", () => {
  it("keeps every invariant after each step, and always comes to an end (R1, R8, A1, A2, A4, A5, C1, C2)", () => {
    fc.assert(walk, { numRuns: runs, ...chosen });
  });

  it.each(pinned)("keeps them in the pinned walk $seed $path: $why", ({ seed, path }) => {
    fc.assert(walk, { seed, path, numRuns: 1 });
  });

  it("has seen every kind of record and of end on the way", () => {
    const all: Record<RecordKind, true> = {
      "append-stored": true,
      "append-applied": true,
      "numbers-seen": true,
      "gap-passed": true,
      "run-accepted": true,
      "facts-changed": true,
      "owner-changed": true,
      notice: true,
      "pass-started": true,
      "text-added": true,
      "block-closed": true,
      "call-opened": true,
      "exec-opened": true,
      "exec-output": true,
      "exec-answered": true,
      "exec-close-seen": true,
      "exec-closed": true,
      "call-closed": true,
      "pass-ended": true,
      noted: true,
      "blob-asked": true,
      "blob-received": true,
      "checkpoint-projected": true,
      "blob-offered": true,
      "blob-confirmed": true,
      "checkpoint-published": true,
      "checkpoint-dropped": true,
      finishing: true,
      ended: true,
    };
    expect(Object.keys(all).filter((kind) => !seen.has(kind as RecordKind))).toEqual([]);
    expect([...ends]).toEqual(expect.arrayContaining(["completed", "failed", "canceled"]));
  });
});
