import { describe, expect, it } from "vitest";
import { frameName } from "../../../../test/property/support/ledger.js";
import { RunDriver, toyLimits, toyOptions } from "../../../../test/property/support/run-driver.js";
import { toyArgs } from "../../../../test/property/support/toy-logic.js";
import * as toy from "../../../../test/property/support/toy-messages.js";
import { type Decision, decide } from "./decide.js";
import { fault } from "./faults.js";
import { noSigns, type PassEvent } from "./inputs.js";
import { newRun, openCalls, openExecs } from "./state.js";
import { noUsage } from "./usage.js";

const text = (words: string): PassEvent => ({ kind: "delta", channel: "text", text: words });
const ended = (reason: "stop" | "tool-calls" | "length" | "content-filter" = "stop"): PassEvent => ({
  kind: "ended",
  reason,
  usage: noUsage,
});
const call = (steps: readonly number[], more: { lock?: string; complete?: boolean } = {}): PassEvent => ({
  kind: "call",
  name: "toy",
  args: toyArgs({ steps, lock: more.lock }),
  complete: more.complete ?? true,
});

/** A run with a client connected, whose first pass runs. */
function running(conversation = "conversation"): RunDriver {
  const driver = new RunDriver();
  driver.subscribe();
  driver.append(0, toy.runRequest(conversation));
  return driver;
}

/** A run whose first pass made the calls and ended. */
function waiting(...calls: readonly PassEvent[]): RunDriver {
  const driver = running();
  for (const one of calls) driver.pass(one);
  driver.pass(ended("tool-calls"));
  return driver;
}

function kinds(decision: Decision | undefined): readonly string[] {
  return (decision?.records ?? []).map(({ record }) => record.kind);
}

function frames(decision: Decision | undefined): readonly string[] {
  return (decision?.records ?? []).flatMap((draft) => frameName(draft) ?? []);
}

/** Gives the checkpoint that is wanted, with nothing the client does not have. */
function project(driver: RunDriver, ...ids: readonly string[]): Decision {
  const blobs = ids.map((id) => ({ id, bytes: Uint8Array.of(Number.parseInt(id, 16)) }));
  const revision = driver.wanted.projection ?? 0;
  return driver.give({
    kind: "projected",
    projection: { revision, root: "ee", frame: Uint8Array.of(revision), blobs },
  });
}

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
    expect(driver.append(6, toy.unknownMessage(66)).answer).toEqual({ kind: "accepted" });
  });

  it("A1, A5: a full inbox takes the message that starts the run and answers about blobs", () => {
    const driver = new RunDriver();
    for (let number = 2; number < 2 + toyLimits.inboxCount; number += 1) driver.append(number, toy.unknownMessage());
    expect(driver.append(9, toy.setBlobResult(1, true)).answer).toEqual({ kind: "accepted" });
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
      expect([decision.answer, kinds(decision)]).toEqual([{ kind: "accepted" }, ["append-stored", "append-applied"]]);
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

describe("passes", () => {
  it("I-101: an empty answer gets one nudge and then a visible end", () => {
    const driver = running();
    driver.pass({ kind: "delta", channel: "thinking", text: "hm" });
    expect(kinds(driver.pass(ended("tool-calls")))).toEqual(["block-closed", "pass-ended", "noted", "pass-started"]);
    driver.pass(text(" \n"));
    expect(kinds(driver.pass(ended()))).toEqual(["block-closed", "pass-ended", "notice", "finishing"]);
    expect(driver.state.phase).toMatchObject({ outcome: { kind: "failed", fault: { code: "model/empty" } } });
  });

  it("says that the provider withheld the answer, unless it gave some", () => {
    const none = running();
    none.pass(ended("content-filter"));
    expect(none.state.phase).toMatchObject({ outcome: { kind: "failed", fault: { code: "model/filtered" } } });
    const some = running();
    some.pass(text("Well,"));
    some.pass(ended("content-filter"));
    expect(some.state.phase).toMatchObject({ outcome: { kind: "completed" } });
  });

  it("I-100: calls decide that the turn goes on, not the provider's reason", () => {
    const driver = running();
    driver.pass(call([]));
    expect(kinds(driver.pass(ended("stop")))).toEqual(["pass-ended", "pass-started"]);
  });

  it("D2: a pass that was cut keeps what was shown and is followed by another; its late reports are nothing", () => {
    const driver = running();
    driver.pass(text("Once upon"));
    const decision = driver.crash();
    expect(kinds(decision)).toEqual(["owner-changed", "block-closed", "pass-ended", "noted", "pass-started"]);
    expect(driver.state.turn).toEqual([
      { kind: "text", pass: 1, text: "Once upon" },
      { kind: "note", pass: 1, note: "interrupted" },
    ]);
    const late = driver.give({ kind: "pass", pass: 1, event: text(" a time") });
    expect([late.answer, late.records]).toEqual([{ kind: "late" }, []]);
  });

  it("D2: calls of a pass that was cut are waited for under their ids, and not issued again", () => {
    const driver = running();
    driver.pass(call([1]));
    expect(kinds(driver.crash())).toEqual(["owner-changed", "pass-ended", "noted"]);
    expect(driver.state.phase.kind).toBe("waiting_external");
    expect(kinds(driver.append(1, toy.execResult(1)))).toContain("pass-started");
    expect([...driver.state.execs.keys()]).toEqual([1]);
  });

  it("gives up a run whose passes are cut again and again", () => {
    const driver = running();
    for (let cut = 0; cut <= toyLimits.maxInterruptions; cut += 1) driver.crash(1);
    expect(driver.state.phase).toMatchObject({ outcome: { kind: "failed", fault: { code: "run/limit" } } });
  });

  it("U1: a turn has a limit of passes", () => {
    const driver = running();
    for (let pass = 0; pass < toyOptions.maxPasses; pass += 1) {
      driver.pass(call([]));
      driver.pass(ended());
    }
    expect(driver.state).toMatchObject({
      passes: toyOptions.maxPasses,
      phase: { outcome: { kind: "failed", fault: { code: "run/limit" } } },
    });
  });

  it("asks for a missing blob once, goes on when it comes or is lost, and does not count the pass", () => {
    const driver = running();
    expect(kinds(driver.pass({ kind: "blobs-missing", blobs: ["b1", "c2"] }))).toEqual([
      "pass-ended",
      "blob-asked",
      "blob-asked",
    ]);
    driver.append(1, toy.getBlobResult(1, "b1"));
    expect(kinds(driver.append(2, toy.getBlobResult(2, "ff")))).toContain("pass-started");
    expect(driver.state).toMatchObject({ passes: 1, blobs: { lost: new Set(["c2"]), held: new Set(["a0", "b1"]) } });
  });

  it("P20: a failure is shown as text, and what was open is closed before", () => {
    const driver = running();
    driver.pass(text("Let me"));
    const decision = driver.pass({ kind: "failed", fault: fault("model/truncated", "The stream was cut.") });
    expect(kinds(decision)).toEqual(["block-closed", "pass-ended", "notice", "finishing"]);
    expect(decision.records.at(-2)?.frame).toEqual({
      message: {
        case: "interactionUpdate",
        value: {
          message: {
            case: "textDelta",
            value: { text: "\n\n[The model provider closed the stream early] The stream was cut.\n" },
          },
        },
      },
    });
  });
});

describe("checkpoints", () => {
  it("I-46, O4: a checkpoint is published once its blobs are confirmed, and known blobs are not offered", () => {
    const driver = waiting(call([1]));
    expect(kinds(project(driver, "a0", "b1", "c2", "ee"))).toEqual([
      "checkpoint-projected",
      "blob-offered",
      "blob-offered",
    ]);
    expect(kinds(driver.append(1, toy.setBlobResult(2, true)))).not.toContain("checkpoint-published");
    const published = driver.append(2, toy.setBlobResult(1, true));
    expect(kinds(published)).toEqual(["append-stored", "blob-confirmed", "checkpoint-published", "append-applied"]);
    expect(published.records[2]?.frame).toEqual({ encoded: Uint8Array.of(1) });
    expect(driver.wanted.projection).toBeNull();
  });

  it("W7: a refused or unanswered blob drops the checkpoint, and the turn goes on and completes", () => {
    const driver = waiting(call([1]));
    project(driver, "b1");
    expect(kinds(driver.append(1, toy.setBlobResult(1, false)))).toEqual([
      "append-stored",
      "blob-confirmed",
      "checkpoint-dropped",
      "append-applied",
    ]);
    driver.append(2, toy.execResult(1));
    driver.append(3, toy.streamClose(1));
    expect(driver.state.phase.kind).toBe("provider_running");
    expect(kinds(project(driver, "b1"))).toEqual(["checkpoint-projected", "blob-offered"]);
    driver.pass(text("done"));
    driver.pass(ended());
    expect(kinds(driver.fireNext())).toEqual(["checkpoint-dropped"]);
    project(driver, "b1");
    expect(kinds(driver.append(4, toy.setBlobResult(3, false)))).toEqual([
      "append-stored",
      "blob-confirmed",
      "checkpoint-dropped",
      "append-applied",
      "notice",
      "ended",
    ]);
    expect(driver.state.phase.kind).toBe("completed");
  });

  it("keeps the pending checkpoint when a projection fails late", () => {
    const driver = waiting(call([1]));
    project(driver, "b1");
    driver.append(1, toy.execResult(1));
    const late = driver.give({ kind: "projection-failed", revision: driver.state.checkpoint.wanted, why: "late" });
    expect([late.answer, late.records]).toEqual([{ kind: "late" }, []]);
    driver.append(2, toy.setBlobResult(1, true));
    expect(driver.state.checkpoint).toMatchObject({ pending: null, settled: 1 });
  });

  it("offers nothing to nobody: the store keeps the root, the checkpoint is given up", () => {
    const driver = running();
    driver.unsubscribe();
    driver.pass(call([1]));
    driver.pass(ended());
    const decision = project(driver, "b1");
    expect(kinds(decision)).toEqual(["checkpoint-projected", "checkpoint-dropped"]);
    expect(decision.records[0]).toMatchObject({ newestRoot: "ee", blobs: [{ id: "b1" }] });
  });
});

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
