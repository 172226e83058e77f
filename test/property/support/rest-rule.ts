import assert from "node:assert/strict";
import { decide } from "../../../packages/server/src/run/decide.js";
import { outcomeOf } from "../../../packages/server/src/run/phases.js";
import { openExecs } from "../../../packages/server/src/run/state.js";
import type { RunDriver } from "./run-driver.js";

/**
 * R8, exactly. A run at rest between two inputs is
 *
 * - terminal, and then wants nothing; or
 * - `idle`, with the deadline `start`; or
 * - `provider_running`, wants its pass, with the deadline `pass-silent`; or
 * - `waiting_external`, with an open execution or an asked blob. Each asked blob has its deadline; each open
 *   execution has its own while somebody is connected who could answer, and `grace` stands for all of them while
 *   nobody is; or
 * - `checkpointing`, with the deadline of the last checkpoint or of the closing of an execution.
 *
 * Every accepted run that is not finishing has the deadline `total`, every waiting append the deadline `gap`. No
 * deadline is idle: when its time has come, firing its timer moves the run, and before its time it does not.
 */
export function checkRest(driver: RunDriver): void {
  const { state, signs } = driver;
  const { pass, projection, deadlines } = driver.wanted;
  const names = deadlines.map((deadline) => deadline.name);
  assert.equal(new Set(names).size, names.length, "deadlines have different names");
  for (const { at, name } of deadlines) assert.ok(Number.isFinite(at), `${name} has a time`);

  const { phase } = state;
  if (outcomeOf(phase)) {
    assert.deepEqual({ pass, projection, names }, { pass: null, projection: null, names: [] }, "the end wants nothing");
    return;
  }
  assert.equal(pass, phase.kind === "provider_running" ? phase.pass : null, "a pass runs exactly in its phase");
  const unclosed = [...state.execs.values()].filter((exec) => exec.status !== "closed");
  switch (phase.kind) {
    case "idle":
      assert.ok(names.includes("start"), "an idle run has a deadline");
      break;
    case "provider_running":
      assert.ok(names.includes("pass-silent"), "a running pass has a deadline");
      break;
    case "waiting_external": {
      const open = openExecs(state);
      const { asked } = state.blobs;
      assert.ok(open.length + asked.size > 0, "a waiting run waits for something");
      for (const kv of asked.keys()) assert.ok(names.includes(`blob-ask:${kv}`), "an asked blob has a deadline");
      if (signs.subscribers === 0) assert.ok(names.includes("grace"), "an absent client has a deadline");
      else for (const { exec } of open) assert.ok(names.includes(`exec-silent:${exec}`), "an execution has a deadline");
      break;
    }
    case "checkpointing":
      for (const { exec } of unclosed) assert.ok(names.includes(`exec-close:${exec}`), "a closing has a deadline");
      assert.ok(unclosed.length > 0 || names.includes("checkpoint"), "the last checkpoint has a deadline");
      break;
    default:
      assert.fail(`no record leads to ${phase.kind}`);
  }
  const finishing = phase.kind === "checkpointing";
  if (state.request && !finishing) assert.ok(names.includes("total"), "an accepted run has a total deadline");
  if (state.sequence.inbox.size > 0 && !finishing) assert.ok(names.includes("gap"), "a waiting append has a deadline");

  for (const { name, at } of deadlines) {
    const late = decide(state, { kind: "timer", timer: name }, { ...driver.world, now: Math.max(driver.now, at) });
    assert.ok(late.records.length > 0, `the deadline ${name} moves the run when it has passed`);
    if (driver.now >= at) continue;
    const early = decide(state, { kind: "timer", timer: name }, driver.world);
    assert.deepEqual(early.records, [], `the timer ${name} does nothing before its time`);
  }
}

/**
 * Liveness: no input comes any more, only timers fire. The run must end, once, in a bounded number of steps and of
 * time. `passes` says what a running pass does: it fails at once, stays silent, or answers nothing.
 */
export function runDry(driver: RunDriver, passes: "fail" | "silent" | "empty"): void {
  const bound = 200;
  for (let step = 0; !outcomeOf(driver.state.phase); step += 1) {
    assert.ok(step < bound, `the run ends within ${bound} steps when passes ${passes}`);
    const { pass } = driver.wanted;
    if (pass === null || passes === "silent") driver.fireNext();
    else if (passes === "empty") driver.pass({ kind: "ended", reason: "stop", usage });
    else driver.pass({ kind: "failed", fault: { code: "model/unreachable", title: "Gone", detail: "No answer." } });
  }
  assert.equal(driver.nextDeadline(), undefined);
}

const usage = { inputTokens: 1, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
