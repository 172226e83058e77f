import { expect, test } from "vitest";
import { startRetention } from "./compose-retention.js";

const dayMs = 86_400_000;

function setUp(retentionMs: number, prune: (endedBefore: number) => Promise<number>) {
  let now = 10 * dayMs;
  let next: { at: number; wake: () => void } | undefined;
  const problems: string[] = [];
  const pruned: number[] = [];
  const stop = startRetention({
    log: { prune },
    retentionMs,
    clock: {
      now: () => now,
      wakeAt: (at, wake) => {
        next = { at, wake };
        return () => (next = undefined);
      },
    },
    pruned: (runs) => pruned.push(runs),
    problem: (what) => problems.push(what),
  });
  return {
    stop,
    problems,
    pruned,
    waitsMs: () => next && next.at - now,
    /** Lets the time pass until the next pass. */
    wake: async () => {
      const due = next;
      next = undefined;
      now = due?.at ?? now;
      due?.wake();
      await settled();
    },
  };
}

/** Everything that needs no input-output has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("ended runs go once at the start and then every hour, a failure changes nothing (R6)", async () => {
  const asked: number[] = [];
  const retention = setUp(dayMs, async (endedBefore) => {
    asked.push(endedBefore);
    if (asked.length === 2) throw new Error("disk full");
    return asked.length === 1 ? 3 : 0;
  });
  await settled();
  expect(asked).toEqual([9 * dayMs]);
  expect(retention.waitsMs()).toBe(3_600_000);
  await retention.wake();
  await retention.wake();
  expect(asked).toEqual([9 * dayMs, 9 * dayMs + 3_600_000, 9 * dayMs + 7_200_000]);
  expect(retention.problems).toEqual(["old runs could not be deleted"]);
  expect(retention.pruned).toEqual([3]);
  retention.stop();
  expect(retention.waitsMs()).toBeUndefined();
});

test("a short retention is kept about as exactly as it is long", async () => {
  const retention = setUp(30_000, async () => 0);
  await settled();
  expect(retention.waitsMs()).toBe(30_000);
});

test("a stop during a pass is the last of it: no timer, no complaint about the closed store", async () => {
  let fail: (error: Error) => void = () => {};
  const retention = setUp(dayMs, () => new Promise((_resolve, reject) => (fail = reject)));
  retention.stop();
  fail(new Error("the store is closed"));
  await settled();
  expect(retention.problems).toEqual([]);
  expect(retention.waitsMs()).toBeUndefined();
});
