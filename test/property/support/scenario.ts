import type { Decision } from "../../../packages/server/src/run/decide.js";
import type { PassEvent } from "../../../packages/server/src/run/inputs.js";
import { noUsage } from "../../../packages/server/src/run/usage.js";
import { frameName } from "./ledger.js";
import { RunDriver } from "./run-driver.js";
import { toyArgs } from "./toy-logic.js";
import * as toy from "./toy-messages.js";

/** Text the model says. */
export const text = (words: string): PassEvent => ({ kind: "delta", channel: "text", text: words });
/** A pass that ended by itself. */
export const ended = (reason: "stop" | "tool-calls" | "length" | "content-filter" = "stop"): PassEvent => ({
  kind: "ended",
  reason,
  usage: noUsage,
});
/** A tool call with the executions of its steps. */
export const call = (steps: readonly number[], more: { lock?: string; complete?: boolean } = {}): PassEvent => ({
  kind: "call",
  name: "toy",
  args: toyArgs({ steps, lock: more.lock }),
  complete: more.complete ?? true,
});

/** A run with a client connected, whose first pass runs. */
export function running(conversation = "conversation"): RunDriver {
  const driver = new RunDriver();
  driver.subscribe();
  driver.append(0, toy.runRequest(conversation));
  return driver;
}

/** A run whose first pass made the calls and ended. */
export function waiting(...calls: readonly PassEvent[]): RunDriver {
  const driver = running();
  for (const one of calls) driver.pass(one);
  driver.pass(ended("tool-calls"));
  return driver;
}

/** The kinds of the records decided. */
export function kinds(decision: Decision | undefined): readonly string[] {
  return (decision?.records ?? []).map(({ record }) => record.kind);
}

/** The names of the frames published. */
export function frames(decision: Decision | undefined): readonly string[] {
  return (decision?.records ?? []).flatMap((draft) => frameName(draft) ?? []);
}

/** Gives the checkpoint that is wanted, with nothing the client does not have. */
export function project(driver: RunDriver, ...ids: readonly string[]): Decision {
  const blobs = ids.map((id) => ({ id, bytes: Uint8Array.of(Number.parseInt(id, 16)) }));
  const revision = driver.wanted.projection ?? 0;
  return driver.give({
    kind: "projected",
    projection: { revision, root: "ee", frame: Uint8Array.of(revision), blobs },
  });
}
