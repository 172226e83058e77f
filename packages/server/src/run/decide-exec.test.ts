import { describe, expect, it } from "vitest";
import { toyLimits } from "../../../../test/property/support/run-driver.js";
import {
  call,
  ended,
  frames,
  kinds,
  project,
  running,
  text,
  waiting,
} from "../../../../test/property/support/scenario.js";
import * as toy from "../../../../test/property/support/toy-messages.js";
import { decide } from "./decide.js";
import { fault } from "./faults.js";
import { openCalls, openExecs } from "./state.js";

describe("executions", () => {
  it("I-57, C2: results of unknown, answered and canceled executions have no effect", () => {
    const driver = waiting(call([2]));
    driver.append(1, toy.execResult(1));
    for (const [number, message] of [
      [2, toy.execResult(1, "", "again")],
      [3, toy.execResult(9999)],
      [4, toy.execResult(1, "exec_unknown")],
      [5, toy.execThrow(9999)],
      [6, toy.streamClose(9999)],
      [7, toy.shellOutput(1, "stdout", "late")],
    ] as const) {
      const decision = driver.append(number, message);
      // What is no answer (a close, a throw) is not worth counting.
      const answer = number === 5 || number === 6 ? { kind: "accepted" } : { kind: "accepted", late: true };
      expect([decision.answer, kinds(decision)]).toEqual([answer, ["append-stored", "append-applied"]]);
    }
    expect(driver.state.execs.get(1)?.outcome).toEqual({ how: "answered", bytes: toy.execResult(1).bytes });
    driver.give({ kind: "cancel", fault: fault("run/canceled", "Enough.") });
    expect(kinds(driver.append(8, toy.execResult(2)))).toEqual(["append-stored", "append-applied"]);
  });

  it("I-58: results that come out of order are kept in call order, and the next pass waits for all", () => {
    const driver = waiting(call([1]), call([1]), call([1]));
    driver.append(1, toy.execResult(3, "", "C"));
    driver.append(2, toy.execResult(1, "", "A"));
    expect(driver.state.phase.kind).toBe("waiting_external");
    expect(kinds(driver.append(3, toy.execResult(2, "", "B")))).toContain("pass-started");
    expect(driver.state.turn.map((entry) => (entry.kind === "call" ? entry.callId : entry.kind))).toEqual([
      "tc_t0_1_0",
      "tc_t0_1_1",
      "tc_t0_1_2",
    ]);
    expect([...driver.state.calls.values()].map(({ result }) => result?.isError)).toEqual([false, false, false]);
  });

  it("I-69: the first answer wins, also after a restart; the execution keeps its id", () => {
    const driver = waiting(call([1]));
    const { execId } = driver.state.execs.get(1) ?? {};
    driver.crash();
    expect(openExecs(driver.state).map((exec) => exec.execId)).toEqual([execId]);
    driver.append(1, toy.execResult(0, execId, "first"));
    const { bytes } = driver.state.execs.get(1)?.outcome ?? {};
    driver.append(2, toy.execResult(1, execId, "second"));
    expect(driver.state.execs.get(1)?.outcome).toEqual({ how: "answered", bytes });
    expect(driver.state.passes).toBe(2);
  });

  it("I6: a throw is final with and without a close behind it", () => {
    const driver = waiting(call([2]));
    expect(kinds(driver.append(1, toy.execThrow(1, "no such tool")))).toEqual([
      "append-stored",
      "exec-answered",
      "exec-closed",
      "append-applied",
    ]);
    expect(driver.state.execs.get(1)?.outcome).toEqual({ how: "thrown", bytes: undefined, error: "no such tool" });
    expect(kinds(driver.append(2, toy.streamClose(1)))).toEqual(["append-stored", "append-applied"]);
  });

  it("I6: a close without a result gives the result a short grace, and then stands for it", () => {
    const driver = waiting(call([1]));
    driver.append(1, toy.streamClose(1));
    expect(driver.nextDeadline()).toEqual({ name: "exec-close:1", at: driver.now + toyLimits.execCloseGraceMs });
    const inTime = driver.fork();
    expect(kinds(inTime.append(2, toy.execResult(1)))).toEqual([
      "append-stored",
      "exec-answered",
      "exec-closed",
      "call-closed",
      "facts-changed",
      "append-applied",
      "pass-started",
    ]);
    driver.fireNext();
    expect(driver.state.execs.get(1)).toMatchObject({ status: "closed", outcome: { how: "closed" } });
    expect(driver.state.passes).toBe(2);
  });

  it("D1: a result sent again after a restart counts although its close came before the crash", () => {
    const driver = waiting(call([1]));
    driver.append(1, toy.streamClose(1));
    driver.crash(60_000);
    expect(driver.nextDeadline()).toEqual({ name: "exec-close:1", at: driver.now + toyLimits.execCloseGraceMs });
    driver.append(2, toy.execResult(1));
    expect(driver.state.execs.get(1)?.outcome?.how).toBe("answered");
  });

  it("I-10: an execution is not given up while nobody is connected who could answer", () => {
    const driver = waiting(call([1]));
    driver.unsubscribe();
    const names = driver.wanted.deadlines.map(({ name }) => name);
    expect(names).toEqual(["total", "grace"]);
    driver.subscribe();
    expect(driver.wanted.deadlines.map(({ name }) => name)).toEqual(["total", "exec-silent:1"]);
  });

  it("P8: the end waits until every execution is closed", () => {
    const driver = waiting(call([1]));
    driver.append(1, toy.execResult(1));
    driver.pass(text("done"));
    driver.pass(ended());
    expect(driver.state.phase).toMatchObject({ kind: "checkpointing", outcome: { kind: "completed" } });
    project(driver);
    expect(driver.state.phase.kind).toBe("checkpointing");
    const last = driver.append(2, toy.streamClose(1));
    expect(kinds(last)).toEqual(["append-stored", "exec-closed", "append-applied", "notice", "ended"]);
    expect(frames(last)).toEqual(["turnEnded"]);
    expect(driver.state.phase.kind).toBe("completed");
  });
});

describe("calls", () => {
  it("I-99: a call that was cut is never executed, and the model is told", () => {
    const driver = running();
    expect(kinds(driver.pass(call([1], { complete: false })))).toEqual(["call-opened", "call-closed", "facts-changed"]);
    expect(kinds(driver.pass(ended("length")))).toEqual(["pass-ended", "pass-started"]);
    expect(driver.state.execs.size).toBe(0);
    expect(driver.state.calls.get("tc_t0_1_0")?.result?.isError).toBe(true);
  });

  it("runs calls with one lock one after the other", () => {
    const driver = running();
    driver.pass(call([1], { lock: "a" }));
    expect(kinds(driver.pass(call([1], { lock: "a" })))).toEqual(["call-opened"]);
    expect(kinds(driver.pass(call([1], { lock: "b" })))).toEqual(["call-opened", "exec-opened"]);
    expect([...driver.state.calls.values()].map(({ status }) => status)).toEqual(["open", "queued", "open"]);
    expect(kinds(driver.append(1, toy.execResult(1)))).toEqual([
      "append-stored",
      "exec-answered",
      "call-closed",
      "facts-changed",
      "exec-opened",
      "append-applied",
    ]);
  });

  it("I-31: a cancel closes every call once, aborts what is open, and starts nothing that waited for a lock", () => {
    for (const queued of [call([1], { lock: "a" }), call([], { lock: "a" })]) {
      const driver = running();
      driver.pass(call([1], { lock: "a" }));
      driver.pass(queued);
      const decision = driver.give({ kind: "cancel", fault: fault("run/canceled", "Enough.") });
      expect(kinds(decision)).toEqual([
        "pass-ended",
        "notice",
        "exec-answered",
        "exec-closed",
        "call-closed",
        "facts-changed",
        "call-closed",
        "facts-changed",
        "finishing",
      ]);
      expect(frames(decision)).toEqual([
        "stepCompleted",
        "execServerControlMessage",
        "toolCallCompleted",
        "toolCallCompleted",
      ]);
      expect([openCalls(driver.state), openExecs(driver.state)]).toEqual([[], []]);
    }
  });

  it("R8: a tool that neither finishes nor asks for anything is closed as an error", () => {
    const driver = running();
    const stuck = { ...driver.world.logic, startCall: () => ({ kind: "run", executions: [] }) as const };
    const { state } = decide(
      driver.state,
      { kind: "pass", pass: 1, event: call([1]) },
      { ...driver.world, logic: stuck },
    );
    expect(state.calls.get("tc_t0_1_0")).toMatchObject({ status: "closed", result: { isError: true } });
  });
});
