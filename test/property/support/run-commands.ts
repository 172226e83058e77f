import fc from "fast-check";
import { fault } from "../../../packages/server/src/run/faults.js";
import type { PassEvent, Projection } from "../../../packages/server/src/run/inputs.js";
import { blobIds, execs, picks, Step, sending } from "./client-steps.js";
import { hexBytes } from "./encoding.js";
import { toyArgs } from "./toy-logic.js";

const usage = { inputTokens: 3, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 0, reasoningTokens: 0 };
const channels = fc.constantFrom("text" as const, "thinking" as const);
const provider = fc.option(fc.constant({ provider: "toy", model: "toy", data: { signature: "s" } }), {
  nil: undefined,
});
const scripts = fc.record(
  { steps: fc.array(fc.nat({ max: 3 }), { maxLength: 2 }), lock: fc.constantFrom("a", "b") },
  { requiredKeys: ["steps"] },
);

const passEvents: fc.Arbitrary<PassEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("delta" as const),
      channel: channels,
      text: fc.constantFrom("", " ", "word ", "é", "\ud83d"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("block-ended" as const), channel: channels, provider }) },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      name: fc.constant("toy"),
      args: scripts.map(toyArgs),
      complete: fc.constantFrom(true, true, true, false),
      provider,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("ended" as const),
      reason: fc.constantFrom(
        "stop" as const,
        "tool-calls" as const,
        "length" as const,
        "content-filter" as const,
        "other" as const,
      ),
      usage: fc.constant(usage),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("blobs-missing" as const),
      blobs: fc.subarray([...blobIds], { minLength: 1 }),
    }),
  },
);

function passName(event: PassEvent): string {
  const { kind, ...rest } = event;
  return `pass ${kind} ${JSON.stringify(rest)}`;
}

const passing = fc.oneof(
  {
    weight: 60,
    arbitrary: passEvents.map(
      (event) =>
        new Step(
          passName(event),
          ({ driver }) => driver.pass(event),
          (ledger) => ledger.runningPass !== null,
        ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(passEvents, fc.constantFrom(-1, 1))
      .map(
        ([event, by]) =>
          new Step(`stale ${passName(event)}`, ({ driver }) =>
            driver.give({ kind: "pass", pass: driver.state.passes + by, event }),
          ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constant(
      new Step(
        "pass failed",
        ({ driver }) => driver.pass({ kind: "failed", fault: fault("model/truncated", "The stream was cut.") }),
        (ledger) => ledger.runningPass !== null,
      ),
    ),
  },
);

function projection(revision: number, ids: readonly string[]): Projection {
  const blobs = ids.map((id) => ({ id, bytes: hexBytes(id) }));
  return { revision, root: "ee", frame: Uint8Array.of(revision), blobs };
}

const projecting = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.subarray([...blobIds, "ee"]).map(
      (ids) =>
        new Step(`projected with ${ids.join()}`, ({ driver }) => {
          const revision = driver.wanted.projection;
          if (revision !== null) driver.give({ kind: "projected", projection: projection(revision, ids) });
        }),
    ),
  },
  {
    weight: 1,
    arbitrary: picks.map(
      (back) =>
        new Step(`late projection ${back}`, ({ driver }) => {
          const revision = Math.max(0, driver.state.checkpoint.wanted - back);
          driver.give({ kind: "projected", projection: projection(revision, ["b1"]) });
        }),
    ),
  },
  {
    weight: 1,
    arbitrary: picks.map(
      (back) =>
        new Step(`projection failed ${back}`, ({ driver }) => {
          const revision = Math.max(0, driver.state.checkpoint.wanted - back);
          driver.give({ kind: "projection-failed", revision, why: "no" });
        }),
    ),
  },
);

const timerNames = ["start", "gap", "total", "grace", "pass-silent", "checkpoint", "exec-silent:1", "exec-close:1"];

const world = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Step("next deadline", ({ driver }) => void driver.fireNext())) },
  {
    weight: 5,
    arbitrary: fc.constant(
      new Step("next deadline, if it is near", ({ driver }) => {
        const due = driver.nextDeadline();
        if (due && due.name !== "gap" && due.at <= driver.now + 20_000) driver.fireNext();
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.nat({ max: 5_000 }).map((ms) => new Step(`${ms} ms pass`, ({ driver }) => void (driver.now += ms))),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...timerNames, "blob-ask:1", "no-such-timer")
      .map((timer) => new Step(`timer ${timer}`, ({ driver }) => driver.give({ kind: "timer", timer }))),
  },
  { weight: 4, arbitrary: fc.constant(new Step("subscriber comes", ({ driver }) => driver.subscribe())) },
  { weight: 2, arbitrary: fc.constant(new Step("subscriber leaves", ({ driver }) => driver.unsubscribe())) },
  {
    weight: 2,
    arbitrary: execs.map(
      (exec) =>
        new Step(`sign of life of ${exec.name}`, (drive) => {
          const { driver } = drive;
          const execAt = new Map(driver.signs.execAt).set(exec.find(drive), driver.now);
          driver.signs = { ...driver.signs, execAt };
        }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.nat({ max: 3_000 }).map(
      (ms) =>
        new Step(`crash, ${ms} ms down`, (drive) => {
          drive.heartbeats = [];
          drive.driver.crash(ms + 1);
        }),
    ),
  },
);

const endings = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constant(
      new Step("cancel", ({ driver }) => driver.give({ kind: "cancel", fault: fault("run/superseded", "Newer.") })),
    ),
  },
  { weight: 1, arbitrary: fc.constant(new Step("stop", ({ driver }) => driver.give({ kind: "stop" }))) },
);

/** Random walks: most of them reach a running model soon, few of them are ended from outside. */
export const walks = fc.tuple(
  fc.constantFrom(0, 1),
  fc.constantFrom("conversation", "conversation", "with-context", null),
  fc.commands(
    [
      fc.oneof(
        { weight: 160, arbitrary: sending },
        { weight: 160, arbitrary: passing },
        { weight: 60, arbitrary: projecting },
        { weight: 60, arbitrary: world },
        { weight: 1, arbitrary: endings },
      ),
    ],
    { maxCommands: 200, size: "max" },
  ),
);
