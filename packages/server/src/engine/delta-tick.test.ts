import { describe, expect, it } from "vitest";
import { evolve } from "../run/evolve.js";
import type { RunInput } from "../run/inputs.js";
import { defaultLimits } from "../run/limits.js";
import type { RunLogic } from "../run/logic.js";
import type { RunRecord } from "../run/records.js";
import { newRun } from "../run/state.js";
import { DeltaTick } from "./delta-tick.js";
import type { Clock, LogRecord } from "./ports.js";
import { Runner } from "./runner.js";

/** A clock that stands until it is moved. */
class StandingClock implements Clock {
  #now = 1_000;
  #wakes: { at: number; wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  wakeAt(at: number, wake: () => void): () => void {
    const entry = { at, wake };
    this.#wakes.push(entry);
    return () => (this.#wakes = this.#wakes.filter((other) => other !== entry));
  }

  /** Moves on and lets everything that follows from it happen. */
  async pass(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#wakes.filter(({ at }) => at <= this.#now);
    this.#wakes = this.#wakes.filter(({ at }) => at > this.#now);
    for (const { wake } of due) wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const begun: readonly RunRecord[] = [
  {
    kind: "run-accepted",
    conversationId: "c",
    model: "m",
    tag: "t",
    facts: {},
    options: { disconnectGraceMs: 60_000, maxPasses: 10, totalMs: 600_000 },
    held: [],
  },
  { kind: "pass-started", pass: 1, modelCallId: "m1" },
];

/** A run in its first pass, and the appends of its log. */
function runningPass(clock: Clock, tick: DeltaTick) {
  const key = { requestId: "r", generation: 0 };
  const state = begun.reduce((before, record) => evolve(before, record, 1_000), newRun(key, 1_000));
  const stored: string[][] = [];
  const disk = { ready: Promise.resolve() };
  const runner = new Runner(
    { state, fence: 1, opened: true },
    {
      log: {
        append: async ({ records }: { records: readonly LogRecord[] }) => {
          await disk.ready;
          stored.push(records.map(({ kind, body }) => (body as { text?: string }).text ?? kind));
        },
      } as never,
      logic: {} as RunLogic,
      turn: { runPass: () => new Promise(() => {}), project: () => new Promise(() => {}) },
      codec: { encodeServerMessage: () => new Uint8Array() } as never,
      clock,
      limits: defaultLimits,
      reports: { lateInput: () => {} } as never,
      heartbeatMs: 5_000,
    },
    tick,
    () => {},
  );
  return { runner, stored, disk };
}

const delta = (text: string, channel: "text" | "thinking" = "text"): RunInput => ({
  kind: "pass",
  pass: 1,
  event: { kind: "delta", channel, text },
});

describe("deltas", () => {
  it("of many runs are stored in one beat, the first of a block at once", async () => {
    const clock = new StandingClock();
    const tick = new DeltaTick(clock);
    const [one, other] = [runningPass(clock, tick), runningPass(clock, tick)];
    for (const { runner } of [one, other]) void runner.offer(delta("a"));
    await clock.pass(0);
    expect([one.stored, other.stored]).toEqual([[["a"]], [["a"]]]);
    void one.runner.offer(delta("b"));
    await clock.pass(5);
    void one.runner.offer(delta("c"));
    void other.runner.offer(delta("d"));
    await clock.pass(4);
    expect([one.stored, other.stored]).toEqual([[["a"]], [["a"]]]);
    await clock.pass(1);
    expect([one.stored, other.stored]).toEqual([
      [["a"], ["bc"]],
      [["a"], ["d"]],
    ]);
  });

  it("go before what comes after them and does not wait", async () => {
    const clock = new StandingClock();
    const { runner, stored } = runningPass(clock, new DeltaTick(clock));
    void runner.offer(delta("a", "thinking"));
    await clock.pass(0);
    void runner.offer(delta("b", "thinking"));
    void runner.offer(delta("c"));
    await clock.pass(0);
    expect(stored).toEqual([["a"], ["b", "block-closed", "c"]]);
  });

  it("that come while a batch is being stored wait for the beat after it", async () => {
    const clock = new StandingClock();
    const { runner, stored, disk } = runningPass(clock, new DeltaTick(clock));
    let release = () => {};
    disk.ready = new Promise((resolve) => (release = resolve));
    void runner.offer(delta("a"));
    await clock.pass(0);
    void runner.offer(delta("b"));
    await clock.pass(10);
    release();
    await clock.pass(0);
    expect(stored).toEqual([["a"], ["b"]]);
    void runner.offer(delta("c"));
    disk.ready = new Promise((resolve) => (release = resolve));
    await clock.pass(10);
    void runner.offer(delta("d"));
    await clock.pass(10);
    release();
    await clock.pass(0);
    expect(stored).toEqual([["a"], ["b"], ["c"]]);
    await clock.pass(10);
    expect(stored).toEqual([["a"], ["b"], ["c"], ["d"]]);
  });
});
