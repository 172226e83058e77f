import { describe, expect, it } from "vitest";
import { toyLimits, toyOptions } from "../../../../test/property/support/run-driver.js";
import { call, ended, kinds, running, text } from "../../../../test/property/support/scenario.js";
import * as toy from "../../../../test/property/support/toy-messages.js";
import { fault } from "./faults.js";

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

  it("asks for a missing blob once, and goes on in another pass when it comes or is lost", () => {
    const driver = running();
    expect(kinds(driver.pass({ kind: "blobs-missing", blobs: ["b1", "c2"] }))).toEqual([
      "pass-ended",
      "blob-asked",
      "blob-asked",
    ]);
    driver.append(1, toy.getBlobResult(1, "b1"));
    expect(kinds(driver.append(2, toy.getBlobResult(2, "ff")))).toContain("pass-started");
    expect(driver.state).toMatchObject({ passes: 2, blobs: { lost: new Set(["c2"]), held: new Set(["a0", "b1"]) } });
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
