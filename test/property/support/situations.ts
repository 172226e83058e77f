import type { Decision } from "../../../packages/server/src/run/decide.js";
import { fault } from "../../../packages/server/src/run/faults.js";
import type { PassEvent } from "../../../packages/server/src/run/inputs.js";
import { noUsage } from "../../../packages/server/src/run/usage.js";
import { hexBytes } from "./encoding.js";
import { RunDriver } from "./run-driver.js";
import { toyArgs } from "./toy-logic.js";
import * as toy from "./toy-messages.js";

/** A run in one phase. `busy`: with as much going on as the phase allows; `calm`: with as little. */
export interface Situation {
  readonly phase: string;
  /** What tells it from another situation of its phase. */
  readonly detail: string;
  readonly busy: () => RunDriver;
  readonly calm: () => RunDriver;
}

/** A pass that ended by itself. */
export function endOf(reason: "stop" | "tool-calls" | "content-filter"): PassEvent {
  return { kind: "ended", reason, usage: noUsage };
}

/** A tool call of the toy logic with the executions of its steps. */
export function callOf(steps: readonly number[], complete = true): PassEvent {
  return { kind: "call", name: "toy", args: toyArgs({ steps }), complete };
}

/** Text the model says. */
export function textOf(text: string): PassEvent {
  return { kind: "delta", channel: "text", text };
}

/** Hands in the checkpoint that is wanted, or the next one there could be. */
export function project(driver: RunDriver, ids: readonly string[]): Decision {
  const { wanted, settled } = driver.state.checkpoint;
  const revision = Math.max(wanted, settled + 1);
  const blobs = ids.map((id) => ({ id, bytes: hexBytes(id) }));
  const projection = { revision, root: "ee", frame: Uint8Array.of(revision), blobs };
  return driver.give({ kind: "projected", projection });
}

/** Closes what has its answer and not yet its close. */
export function closeAnswered(driver: RunDriver): RunDriver {
  for (const { exec, status } of driver.state.execs.values()) {
    if (status === "answered") driver.append("next", toy.streamClose(exec));
  }
  return driver;
}

function begun(): RunDriver {
  const driver = new RunDriver();
  driver.subscribe();
  driver.append("next", toy.runRequest());
  return driver;
}

/** The second pass runs; the first one called a tool that is done. */
function calmPass(): RunDriver {
  const driver = begun();
  driver.pass(callOf([]));
  driver.pass(endOf("tool-calls"));
  driver.pass(textOf("Well"));
  return driver;
}

/**
 * The second pass runs and has made two calls: executions 1 and 2 of the first (2 has its answer, not its close) and
 * 3 of the second. A checkpoint waits for the blob b1.
 */
function busyPass(): RunDriver {
  const driver = calmPass();
  project(driver, ["b1"]);
  driver.pass(callOf([2]));
  driver.pass(callOf([1]));
  driver.append("next", toy.execResult(2));
  driver.pass(textOf("Meanwhile"));
  return driver;
}

function after(driver: RunDriver, ...events: readonly PassEvent[]): RunDriver {
  for (const event of events) driver.pass(event);
  return driver;
}

function finishing(kind: "completed" | "failed"): RunDriver {
  const driver = after(begun(), callOf([1]), endOf("tool-calls"));
  driver.append("next", toy.execResult(1));
  if (kind === "failed") driver.give({ kind: "stop" });
  else after(driver, textOf("Done."), endOf("stop"));
  return driver;
}

function busy(driver: RunDriver): RunDriver {
  project(driver, ["b1"]);
  return driver;
}

function ended(kind: "completed" | "failed" | "canceled"): RunDriver {
  const driver = begun();
  driver.pass(textOf("Done."));
  if (kind === "completed") driver.pass(endOf("stop"));
  if (kind === "failed") driver.give({ kind: "stop" });
  if (kind === "canceled") driver.give({ kind: "cancel", fault: fault("run/canceled", "Enough.") });
  project(driver, []);
  return driver;
}

function asking(): RunDriver {
  return after(calmPass(), { kind: "blobs-missing", blobs: ["c2"] });
}

function idle(): RunDriver {
  const driver = new RunDriver();
  driver.subscribe();
  return driver;
}

function idleWithGap(): RunDriver {
  const driver = idle();
  driver.append(3, toy.unknownMessage());
  return driver;
}

/** One situation a column of the table, in the order of a run's life. */
export const situations: readonly Situation[] = [
  { phase: "idle", detail: "", busy: idleWithGap, calm: idle },
  { phase: "provider_running", detail: "", busy: busyPass, calm: calmPass },
  {
    phase: "waiting_external",
    detail: "executions",
    busy: () => after(busyPass(), endOf("tool-calls")),
    calm: () => after(calmPass(), callOf([1]), endOf("tool-calls")),
  },
  { phase: "waiting_external", detail: "blobs", busy: () => busy(asking()), calm: asking },
  {
    phase: "checkpointing",
    detail: "completed",
    busy: () => busy(finishing("completed")),
    calm: () => closeAnswered(finishing("completed")),
  },
  {
    phase: "checkpointing",
    detail: "failed",
    busy: () => busy(finishing("failed")),
    calm: () => closeAnswered(finishing("failed")),
  },
  { phase: "completed", detail: "", busy: () => ended("completed"), calm: () => ended("completed") },
  { phase: "failed", detail: "", busy: () => ended("failed"), calm: () => ended("failed") },
  { phase: "canceled", detail: "", busy: () => ended("canceled"), calm: () => ended("canceled") },
];
