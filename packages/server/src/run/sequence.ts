/**
 * The order of appends (A1-A5) as a pure value. A number is *done* once it has had its effect or never will have
 * one; `next` is the lowest number not done. Stored messages that may not be applied yet lie in the inbox.
 */
export interface SequenceState {
  /** Lowest number not done; null until the message that starts a run fixed the base. */
  readonly next: number | null;
  readonly done: ReadonlySet<number>;
  /**
   * Hash of every stored append, so that a repetition is known from a conflict (A2). In pages of neighbouring numbers:
   * a long run stores many thousands, and each new one copies its page and the list of pages only.
   */
  readonly hashes: ReadonlyMap<number, ReadonlyMap<number, string>>;
  readonly inbox: ReadonlyMap<number, Uint8Array>;
  readonly inboxBytes: number;
  /** Numbers given up as missing; one that comes all the same is still applied, once. */
  readonly passed: ReadonlySet<number>;
  /** Since when a stored append waits for a missing one. */
  readonly gapSince: number | null;
}

export const emptySequence: SequenceState = {
  next: null,
  done: new Set(),
  hashes: new Map(),
  inbox: new Map(),
  inboxBytes: 0,
  passed: new Set(),
  gapSince: null,
};

/** The hash of the append stored under a number, if there is one. */
export function hashOf(sequence: SequenceState, number: number): string | undefined {
  return sequence.hashes.get(pageOf(number))?.get(number);
}

function withHash(sequence: SequenceState, number: number, hash: string): SequenceState["hashes"] {
  const page = new Map(sequence.hashes.get(pageOf(number))).set(number, hash);
  return new Map(sequence.hashes).set(pageOf(number), page);
}

/** Part of the fold only in memory: no record knows of pages. */
function pageOf(number: number): number {
  return Math.floor(number / 128);
}

export type Arrival = "new" | "duplicate" | "conflict";

/** What an arriving append is to the sequence. */
export function classify(sequence: SequenceState, number: number, hash: string): Arrival {
  const known = hashOf(sequence, number);
  if (known !== undefined) return known === hash ? "duplicate" : "conflict";
  if (sequence.passed.has(number)) return "new";
  const consumed = sequence.done.has(number) || (sequence.next !== null && number < sequence.next);
  return consumed ? "conflict" : "new";
}

/** The number an append gets on a transport that orders by itself (HTTP/2). */
export function nextNumber(sequence: SequenceState): number {
  let number = sequence.next ?? 0;
  while (sequence.done.has(number) || hashOf(sequence, number) !== undefined) number += 1;
  return number;
}

/** Stores an append and the heartbeat numbers noted with it. */
export function store(
  sequence: SequenceState,
  append: { number: number; hash: string; bytes: Uint8Array; alsoSeen: readonly number[]; starts: boolean },
  at: number,
): SequenceState {
  return settle(
    {
      ...sequence,
      next: fixesBase(sequence, append) ? baseOf(sequence, append.number) : sequence.next,
      done: withAll(sequence.done, unstored(sequence, append.alsoSeen, append.number)),
      hashes: withHash(sequence, append.number, append.hash),
      inbox: new Map(sequence.inbox).set(append.number, append.bytes),
      inboxBytes: sequence.inboxBytes + append.bytes.byteLength,
    },
    at,
  );
}

/** Whether an append that was not stored before would be applied without waiting for another one. */
export function isNext(sequence: SequenceState, append: { number: number; starts: boolean }): boolean {
  return append.number === sequence.next || sequence.passed.has(append.number) || fixesBase(sequence, append);
}

/** The message that starts a run fixes the base, whatever came before it. */
function fixesBase(sequence: SequenceState, append: { number: number; starts: boolean }): boolean {
  return sequence.next === null && append.starts && append.number <= 1;
}

/** A client that used the number 0 counts from 0, also when its run starts with the message after it. */
function baseOf(sequence: SequenceState, number: number): number {
  return sequence.inbox.has(0) || sequence.done.has(0) ? 0 : number;
}

/** Marks a stored append as having had its effect. */
export function apply(sequence: SequenceState, number: number, at: number): SequenceState {
  const inbox = new Map(sequence.inbox);
  const bytes = inbox.get(number);
  inbox.delete(number);
  return settle(
    {
      ...sequence,
      done: withAll(sequence.done, [number]),
      inbox,
      inboxBytes: sequence.inboxBytes - (bytes?.byteLength ?? 0),
    },
    at,
  );
}

/** Marks numbers that need no effect (heartbeats) as done. */
export function see(sequence: SequenceState, numbers: readonly number[], at: number): SequenceState {
  return settle({ ...sequence, done: withAll(sequence.done, unstored(sequence, numbers)) }, at);
}

/** Gives up waiting for the numbers below `upTo`. */
export function pass(sequence: SequenceState, upTo: number, at: number): SequenceState {
  const missing: number[] = [];
  for (let number = sequence.next ?? 0; number < upTo; number += 1) {
    if (!sequence.done.has(number) && !sequence.inbox.has(number)) missing.push(number);
  }
  return settle(
    {
      ...sequence,
      next: sequence.next ?? upTo,
      done: withAll(sequence.done, missing),
      passed: withAll(sequence.passed, missing),
    },
    at,
  );
}

/** The stored append that may be applied now, if any. */
export function ready(sequence: SequenceState): { readonly number: number; readonly bytes: Uint8Array } | undefined {
  for (const number of sequence.passed) {
    const bytes = sequence.inbox.get(number);
    if (bytes) return { number, bytes };
  }
  if (sequence.next === null) return undefined;
  const bytes = sequence.inbox.get(sequence.next);
  return bytes ? { number: sequence.next, bytes } : undefined;
}

/** Lowest number that waits in the inbox. */
export function lowestWaiting(sequence: SequenceState): number | undefined {
  return sequence.inbox.size === 0 ? undefined : Math.min(...sequence.inbox.keys());
}

function settle(sequence: SequenceState, at: number): SequenceState {
  let next = sequence.next;
  const done = new Set(sequence.done);
  while (next !== null && done.delete(next)) next += 1;
  if (next !== null) for (const number of done) if (number < next) done.delete(number);
  const settled = { ...sequence, next, done };
  const waits = settled.inbox.size > 0 && ready(settled) === undefined;
  return { ...settled, gapSince: waits ? (sequence.gapSince ?? at) : null };
}

/** A heartbeat that repeats the number of a stored append must not take that append's turn. */
function unstored(sequence: SequenceState, numbers: readonly number[], storing?: number): readonly number[] {
  return numbers.filter((number) => number !== storing && hashOf(sequence, number) === undefined);
}

function withAll<T>(set: ReadonlySet<T>, more: readonly T[]): ReadonlySet<T> {
  if (more.length === 0) return set;
  const copy = new Set(set);
  for (const one of more) copy.add(one);
  return copy;
}
