import { describe, expect, it } from "vitest";
import { RunDriver, toyOptions } from "../../../../test/property/support/run-driver.js";
import { call, ended, kinds, project, running, text, waiting } from "../../../../test/property/support/scenario.js";
import * as toy from "../../../../test/property/support/toy-messages.js";
import { fault } from "./faults.js";
import { noSigns } from "./inputs.js";

describe("ends", () => {
  it("R8: no deadline of the running turn is left while the last checkpoint is written", () => {
    const driver = running();
    driver.pass(text("done"));
    driver.pass(ended());
    driver.unsubscribe();
    driver.now += toyOptions.totalMs;
    expect(driver.wanted.deadlines.map(({ name }) => name)).toEqual(["checkpoint"]);
    expect(kinds(driver.fireNext())).toEqual(["checkpoint-dropped", "notice", "ended"]);
    expect(driver.state.phase.kind).toBe("completed");
  });

  it("a cancel overtakes a completion that is still being written, once", () => {
    const driver = running();
    driver.pass(text("done"));
    driver.pass(ended());
    const cause = fault("run/canceled", "Enough.");
    expect(kinds(driver.give({ kind: "cancel", fault: cause }))).toEqual(["finishing"]);
    expect(kinds(driver.give({ kind: "cancel", fault: fault("run/superseded", "Newer.") }))).toEqual([]);
    project(driver);
    expect(driver.state.phase).toEqual({
      kind: "canceled",
      since: driver.now,
      outcome: { kind: "canceled", fault: cause },
    });
  });

  it("R5: a run is canceled when its client is gone for the grace, counted from when it left", () => {
    const driver = waiting(call([1]));
    driver.now += 1_000;
    driver.unsubscribe();
    expect(driver.nextDeadline()).toEqual({ name: "grace", at: driver.now + toyOptions.disconnectGraceMs });
    driver.fireNext();
    expect(driver.state.phase).toMatchObject({ outcome: { kind: "canceled", fault: { code: "run/no-client" } } });
  });

  it("an invalid request ends the run at once, and nothing is accepted behind the end", () => {
    const driver = new RunDriver();
    expect(kinds(driver.append(1, toy.runRequest("")))).toEqual([
      "append-stored",
      "notice",
      "finishing",
      "append-applied",
      "notice",
      "ended",
    ]);
    for (const input of [{ kind: "stop" }, { kind: "taken-over" }, { kind: "timer", timer: "start" }] as const) {
      expect(driver.give(input)).toEqual({ answer: { kind: "late" }, records: [], state: driver.state });
    }
    expect(driver.append(2, toy.runRequest()).answer).toEqual({ kind: "late" });
  });

  it("looks at nothing but its arguments: without signs a run still has its total deadline", () => {
    const driver = running();
    driver.signs = noSigns;
    expect(driver.wanted.deadlines.map(({ name }) => name)).toEqual(["total", "pass-silent"]);
  });
});
