import { describe, expect, it } from "vitest";
import {
  apply,
  classify,
  emptySequence,
  hashOf,
  isNext,
  lowestWaiting,
  nextNumber,
  pass,
  ready,
  type SequenceState,
  see,
  store,
} from "./sequence.js";

const bytes = Uint8Array.of(1, 2, 3);

function stored(sequence: SequenceState, number: number, more: { starts?: boolean; alsoSeen?: number[] } = {}) {
  const append = { number, hash: `h${number}`, bytes, alsoSeen: more.alsoSeen ?? [], starts: more.starts ?? false };
  return store(sequence, append, 100 + number);
}

function done(sequence: SequenceState, number: number): SequenceState {
  return apply(sequence, number, 200);
}

describe("the order of appends", () => {
  it.each([0, 1])("takes its base from the message that starts the run (A1): %i", (base) => {
    const sequence = stored(emptySequence, base, { starts: true });
    expect(sequence).toEqual({
      next: base,
      done: new Set(),
      hashes: new Map([[0, new Map([[base, `h${base}`]])]]),
      inbox: new Map([[base, bytes]]),
      inboxBytes: 3,
      passed: new Set(),
      gapSince: null,
    });
    expect(ready(sequence)).toEqual({ number: base, bytes });
    expect(done(sequence, base)).toEqual({
      ...sequence,
      next: base + 1,
      inbox: new Map(),
      inboxBytes: 0,
    });
  });

  it("lets a later append wait for the missing one, and knows since when (A1, I-02)", () => {
    const waiting = stored(stored(emptySequence, 3), 2);
    expect(ready(waiting)).toBeUndefined();
    expect(lowestWaiting(waiting)).toBe(2);
    expect(waiting).toEqual({
      next: null,
      done: new Set(),
      hashes: new Map([
        [
          0,
          new Map([
            [3, "h3"],
            [2, "h2"],
          ]),
        ],
      ]),
      inbox: new Map([
        [3, bytes],
        [2, bytes],
      ]),
      inboxBytes: 6,
      passed: new Set(),
      gapSince: 103,
    });
    const begun = done(stored(waiting, 1, { starts: true }), 1);
    expect(begun.gapSince).toBeNull();
    expect(ready(begun)).toEqual({ number: 2, bytes });
    expect(ready(done(begun, 2))).toEqual({ number: 3, bytes });
    expect(done(done(begun, 2), 3)).toEqual({ ...begun, next: 4, inbox: new Map(), inboxBytes: 0, gapSince: null });
  });

  it("counts from 0 when the number 0 came before the message that starts the run with the number 1 (A1)", () => {
    const sequence = stored(stored(emptySequence, 0), 1, { starts: true });
    expect(ready(sequence)).toEqual({ number: 0, bytes });
    expect(done(done(sequence, 0), 1).next).toBe(2);
    expect(stored(see(emptySequence, [0], 1), 1, { starts: true }).next).toBe(1);
  });

  it("does not fix the base by a starting message with a later number (A1)", () => {
    expect(stored(emptySequence, 2, { starts: true })).toMatchObject({ next: null, gapSince: 102 });
  });

  it("knows a repetition from a conflict, also once applied (A2, I-03)", () => {
    const sequence = done(stored(emptySequence, 1, { starts: true }), 1);
    expect(classify(sequence, 1, "h1")).toBe("duplicate");
    expect(classify(sequence, 1, "other")).toBe("conflict");
    expect(classify(sequence, 0, "below the base")).toBe("conflict");
    expect(classify(sequence, 2, "h2")).toBe("new");
  });

  it("knows the appends of a long run, the copy of each new one staying small (A2)", () => {
    let sequence = stored(emptySequence, 1, { starts: true });
    for (let number = 2; number <= 1_000; number += 1) sequence = done(stored(sequence, number), number - 1);
    for (const number of [1, 127, 128, 500, 1_000]) {
      expect(hashOf(sequence, number)).toBe(`h${number}`);
      expect(classify(sequence, number, "other")).toBe("conflict");
    }
    expect(hashOf(sequence, 1_001)).toBeUndefined();
    expect(Math.max(...[...sequence.hashes.values()].map((page) => page.size))).toBeLessThanOrEqual(128);
  });

  it("does not take a new numbering for the old one: another generation has a sequence of its own (A3)", () => {
    expect(classify(emptySequence, 1, "h1")).toBe("new");
    expect(classify(stored(emptySequence, 1, { starts: true }), 1, "restarted")).toBe("conflict");
  });

  it("asking about an append consumes nothing (A4)", () => {
    const sequence = stored(emptySequence, 1, { starts: true });
    const before = structuredClone(sequence);
    classify(sequence, 2, "refused");
    expect(sequence).toEqual(before);
    expect(classify(sequence, 2, "h2")).toBe("new");
  });

  it("applies an answer about a blob before its turn, and its number waits for nobody (A5)", () => {
    const early = done(stored(done(stored(emptySequence, 1, { starts: true }), 1), 3), 3);
    expect(early).toMatchObject({ next: 2, done: new Set([3]), inbox: new Map(), gapSince: null });
    expect(done(stored(early, 2), 2).next).toBe(4);
  });

  it("skips the numbers of heartbeats (A5, I9)", () => {
    const sequence = done(stored(emptySequence, 1, { starts: true, alsoSeen: [2, 3] }), 1);
    expect(sequence).toMatchObject({ next: 4, done: new Set() });
    expect(classify(sequence, 2, "a message after all")).toBe("conflict");
    expect(see(stored(sequence, 5), [4], 300)).toMatchObject({ next: 5, gapSince: null });
  });

  it("keeps the turn of a waiting append whose number a heartbeat repeats (A2)", () => {
    const waiting = stored(done(stored(emptySequence, 0, { starts: true }), 0), 2);
    const heard = see(waiting, [2], 300);
    expect(heard).toEqual(waiting);
    const unblocked = done(stored(heard, 1, { alsoSeen: [1, 2] }), 1);
    expect(ready(unblocked)).toEqual({ number: 2, bytes });
  });

  it("gives numbers up, and still applies one of them that comes after all, once [part of D1]", () => {
    const gap = stored(done(stored(emptySequence, 1, { starts: true }), 1), 4);
    const passed = pass(gap, 4, 300);
    expect(passed).toEqual({ ...gap, next: 4, passed: new Set([2, 3]), gapSince: null });
    const later = done(passed, 4);
    expect(classify(later, 3, "h3")).toBe("new");
    expect(isNext(later, { number: 3, starts: false })).toBe(true);
    const late = stored(later, 3);
    expect(ready(late)).toEqual({ number: 3, bytes });
    expect(ready(done(late, 3))).toBeUndefined();
    expect(classify(done(late, 3), 3, "h3")).toBe("duplicate");
    expect(classify(done(late, 3), 3, "other")).toBe("conflict");
  });

  it("gives a base to a sequence that never had one when its gap is given up", () => {
    expect(pass(stored(emptySequence, 2), 2, 300)).toMatchObject({ next: 2, passed: new Set([0, 1]) });
  });

  it("numbers what comes on an ordered transport behind everything known (T5)", () => {
    expect(nextNumber(emptySequence)).toBe(0);
    const sequence = stored(done(stored(emptySequence, 1, { starts: true, alsoSeen: [3] }), 1), 4);
    expect(nextNumber(sequence)).toBe(2);
    expect(nextNumber(stored(sequence, 2))).toBe(5);
  });

  it("says what would be applied without waiting", () => {
    const sequence = done(stored(emptySequence, 1, { starts: true }), 1);
    expect(isNext(sequence, { number: 2, starts: false })).toBe(true);
    expect(isNext(sequence, { number: 3, starts: false })).toBe(false);
    expect(isNext(emptySequence, { number: 1, starts: true })).toBe(true);
    expect(isNext(emptySequence, { number: 2, starts: true })).toBe(false);
    expect(isNext(emptySequence, { number: 1, starts: false })).toBe(false);
  });
});
