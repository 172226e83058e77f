import { describe, expect, it } from "vitest";
import { RunDriver, toyLimits, toyOptions } from "../../../../test/property/support/run-driver.js";
import { call, kinds, project, running, waiting } from "../../../../test/property/support/scenario.js";
import * as toy from "../../../../test/property/support/toy-messages.js";
import { decide } from "./decide.js";
import { fault } from "./faults.js";
import { newRun } from "./state.js";

describe("appends", () => {
  it("I-01: a numbering that starts again is no duplicate of the run that ended", () => {
    const driver = running();
    driver.give({ kind: "cancel", fault: fault("run/canceled", "Enough.") });
    project(driver);
    expect(driver.state.phase.kind).toBe("canceled");
    expect(driver.append(0, toy.runRequest("conversation")).answer).toEqual({ kind: "duplicate" });
    expect(driver.append(0, toy.runRequest("another")).answer).toEqual({ kind: "late" });
    const next = newRun({ requestId: "run", generation: 1 }, driver.now);
    const { records } = decide(
      next,
      { kind: "append", number: 1, ...toy.runRequest("another"), alsoSeen: [], options: toyOptions },
      driver.world,
    );
    expect(records.find(({ record }) => record.kind === "run-accepted")?.record).toMatchObject({ tag: "t1" });
  });

  it("I-02: an append that overtook the first one waits for it, and heartbeats between leave no hole", () => {
    const driver = new RunDriver();
    driver.subscribe();
    const early = driver.append(3, toy.unknownMessage(), [2]);
    expect([early.answer, kinds(early)]).toEqual([{ kind: "accepted" }, ["append-stored"]]);
    driver.now += 5_000;
    expect(kinds(driver.append(1, toy.runRequest()))).toEqual([
      "append-stored",
      "run-accepted",
      "notice",
      "pass-started",
      "append-applied",
      "append-applied",
    ]);
    expect(driver.state.sequence).toMatchObject({ next: 4, inbox: new Map(), gapSince: null });
  });

  it("I-02: the first append that never comes ends the run with a reason", () => {
    const driver = new RunDriver();
    driver.append(2, toy.unknownMessage());
    expect(driver.nextDeadline()).toEqual({ name: "gap", at: driver.now + toyLimits.appendGapMs });
    expect(kinds(driver.fireNext())).toEqual(["notice", "finishing", "notice", "ended"]);
    expect(driver.state.phase).toMatchObject({ kind: "failed", outcome: { fault: { code: "append/gap" } } });
    const silent = new RunDriver();
    expect(silent.nextDeadline()).toEqual({ name: "start", at: silent.now + toyLimits.startMs });
    silent.fireNext();
    expect(silent.state.phase).toMatchObject({ kind: "failed", outcome: { fault: { code: "append/gap" } } });
  });

  it("I-03, A2: the same bytes again have no second effect, other bytes are refused, before and after a fold", () => {
    const driver = waiting(call([1]));
    driver.append(1, toy.execResult(1, "", "A"));
    const { state } = driver;
    const check = () => {
      const again = driver.append(1, toy.execResult(1, "", "A"));
      expect(again).toEqual({ answer: { kind: "duplicate" }, records: [], state: driver.state });
      const other = driver.append(1, toy.execResult(1, "", "B"));
      expect(other).toMatchObject({
        answer: { kind: "refused", fault: { code: "append/conflict" } },
        records: [],
        state: driver.state,
      });
    };
    check();
    expect(driver.state).toBe(state);
    driver.crash();
    check();
  });

  it("A1, A4: a full inbox refuses what would wait, takes what it waits for, and a refused number stays free", () => {
    const driver = running();
    for (let number = 2; number < 2 + toyLimits.inboxCount; number += 1) driver.append(number, toy.unknownMessage());
    const refused = driver.append(6, toy.unknownMessage(6));
    expect(refused).toMatchObject({ answer: { kind: "refused", fault: { code: "append/overflow" } }, records: [] });
    driver.append(1, toy.unknownMessage(1));
    expect(driver.state.sequence.next).toBe(6);
    expect(driver.append(6, toy.unknownMessage(66)).answer).toMatchObject({ kind: "accepted" });
  });

  it("A1, A5: a full inbox takes the message that starts the run and answers about blobs", () => {
    const driver = new RunDriver();
    for (let number = 2; number < 2 + toyLimits.inboxCount; number += 1) driver.append(number, toy.unknownMessage());
    expect(driver.append(9, toy.setBlobResult(1, true)).answer).toEqual({ kind: "accepted", late: true });
    expect(driver.append(1, toy.runRequest()).answer).toEqual({ kind: "accepted" });
    expect(driver.state.phase.kind).toBe("provider_running");
  });

  it("A5: an answer about a blob has its effect although an earlier append is missing", () => {
    const driver = running();
    driver.pass({ kind: "blobs-missing", blobs: ["b1"] });
    expect(driver.state.phase.kind).toBe("waiting_external");
    expect(kinds(driver.append(5, toy.getBlobResult(1, "b1")))).toEqual([
      "append-stored",
      "blob-received",
      "append-applied",
      "pass-started",
    ]);
  });

  it("D1: after a change of owner a gap is taken for heartbeats and passed", () => {
    const driver = waiting(call([1]));
    driver.now += 10;
    driver.crash();
    driver.append(4, toy.execResult(1));
    expect(driver.nextDeadline()).toEqual({ name: "gap", at: driver.now + toyLimits.gapAfterTakeoverMs });
    expect(kinds(driver.fireNext())).toEqual([
      "gap-passed",
      "numbers-seen",
      "exec-answered",
      "call-closed",
      "facts-changed",
      "append-applied",
      "pass-started",
    ]);
  });

  it("a message numbered 0 before the run request numbered 1 is applied first", () => {
    const driver = new RunDriver();
    driver.append(0, toy.unknownMessage());
    expect(kinds(driver.append(1, toy.runRequest())).filter((kind) => kind === "append-applied")).toHaveLength(2);
    expect(driver.state.sequence).toMatchObject({ next: 2, inbox: new Map(), gapSince: null });
  });

  it("a heartbeat that repeats the number of a waiting append does not swallow it", () => {
    const driver = waiting(call([1]));
    driver.append(2, toy.execResult(1));
    driver.give({ kind: "numbers", numbers: [2] });
    driver.give({ kind: "numbers", numbers: [1] });
    expect(driver.state.execs.get(1)?.status).toBe("answered");
  });

  it("a run that a cancel or an invalid request ended is not started by a request behind it", () => {
    for (const first of [toy.cancelAction(), toy.runRequest("")]) {
      const driver = new RunDriver();
      driver.append(2, toy.runRequest());
      driver.append(1, toy.unknownMessage());
      driver.append(0, first);
      if (first.message.message.case === "conversationAction") driver.fireNext();
      expect(driver.state).toMatchObject({ request: null, passes: 0 });
    }
    const driver = new RunDriver();
    driver.append(0, toy.cancelAction());
    driver.append(1, toy.runRequest());
    expect(driver.state).toMatchObject({ phase: { kind: "canceled" }, request: null, passes: 0 });
  });
});
