import assert from "node:assert/strict";
import { startsRun } from "../../../packages/server/src/run/decide-message.js";
import type { RunInput } from "../../../packages/server/src/run/inputs.js";
import { outcomeOf } from "../../../packages/server/src/run/phases.js";
import type { RunState } from "../../../packages/server/src/run/state.js";
import { toyLimits } from "./run-driver.js";

type AppendInput = Extract<RunInput, { kind: "append" }>;

/** A second, naive account of the append order (A1-A5): numbers in plain sets, every rule looked up anew. */
export class SequenceModel {
  #base: number | null = null;
  readonly #hashes = new Map<number, string>();
  readonly #kv = new Set<number>();
  readonly #applied = new Set<number>();
  /** Heartbeats, and numbers given up. */
  readonly #skipped = new Set<number>();
  readonly #givenUp = new Set<number>();
  #arriving: { readonly number: number; readonly kv: boolean } | null = null;

  /** What the sender must be told. */
  expect(input: AppendInput, before: RunState, ended: boolean): "accepted" | "duplicate" | "late" | "refused" {
    const number = this.numberOf(input);
    const known = this.#hashes.get(number);
    if (known === input.hash) return "duplicate";
    if (ended || outcomeOf(before.phase)) return "late";
    if (known !== undefined) return "refused";
    if (this.#givenUp.has(number)) return "accepted";
    if (this.#skipped.has(number) || (this.#base !== null && number < this.#base)) return "refused";
    const fixesBase = this.#base === null && startsRun(input.message) && number <= 1;
    const mustWait = input.message.message.case !== "kvClientMessage" && !fixesBase && number !== this.#expected();
    return mustWait && this.#waiting().length >= toyLimits.inboxCount ? "refused" : "accepted";
  }

  /** The number an append has, or gets when its transport numbers nothing. */
  numberOf(input: AppendInput): number {
    if (input.number !== "next") return input.number;
    let number = this.#expected() ?? 0;
    while (this.#isDone(number) || this.#hashes.has(number)) number += 1;
    return number;
  }

  arrive(input: AppendInput, _before: RunState, kv: boolean): void {
    this.#arriving = { number: this.numberOf(input), kv };
  }

  stored(record: { number: number; hash: string; alsoSeen: readonly number[]; starts: boolean }): void {
    assert.equal(this.#hashes.has(record.number), false, "a number is stored once");
    assert.equal(record.number, this.#arriving?.number, "the append that arrived is the one stored");
    this.#hashes.set(record.number, record.hash);
    if (this.#arriving?.kv) this.#kv.add(record.number);
    this.#skip(record.alsoSeen);
    if (this.#base === null && record.starts && record.number <= 1) {
      this.#base = this.#hashes.has(0) || this.#skipped.has(0) ? 0 : record.number;
    }
  }

  applied(number: number): void {
    assert.ok(this.#hashes.has(number), "only a stored append is applied");
    assert.equal(this.#applied.has(number), false, "an append has one effect");
    const free = this.#kv.has(number) || this.#givenUp.has(number);
    if (!free) assert.equal(number, this.#expected(), "appends are applied in the order of their numbers");
    this.#applied.add(number);
  }

  heard(numbers: readonly number[]): void {
    this.#skip(numbers);
  }

  gapPassed(upTo: number): void {
    for (let number = this.#base ?? 0; number < upTo; number += 1) {
      if (this.#isDone(number) || this.#hashes.has(number)) continue;
      this.#skipped.add(number);
      this.#givenUp.add(number);
    }
    this.#base ??= 0;
  }

  /** At rest nothing lies in the inbox whose turn has come. */
  rest(ended: boolean): void {
    this.#arriving = null;
    const next = this.#expected();
    if (!ended && next !== undefined)
      assert.equal(this.#waiting().includes(next), false, "nothing ready is left lying");
  }

  #expected(): number | undefined {
    if (this.#base === null) return undefined;
    let number = this.#base;
    while (this.#isDone(number)) number += 1;
    return number;
  }

  #isDone(number: number): boolean {
    return this.#applied.has(number) || this.#skipped.has(number);
  }

  #waiting(): readonly number[] {
    return [...this.#hashes.keys()].filter((number) => !this.#applied.has(number));
  }

  #skip(numbers: readonly number[]): void {
    for (const number of numbers) if (!this.#hashes.has(number)) this.#skipped.add(number);
  }
}
