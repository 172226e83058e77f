import { describe, expect, it } from "vitest";
import { RunDriver } from "../../../../test/property/support/run-driver.js";
import { call, ended, kinds, project, running, text, waiting } from "../../../../test/property/support/scenario.js";
import * as toy from "../../../../test/property/support/toy-messages.js";

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

  it("takes no checkpoint that nobody wants: none before the request, none of a step that is still to come", () => {
    for (const driver of [new RunDriver(), running(), waiting(call([1]))]) {
      const revision = driver.state.checkpoint.wanted + 1;
      const projection = { revision, root: "ee", frame: Uint8Array.of(1), blobs: [] };
      const decision = driver.give({ kind: "projected", projection });
      expect([decision.answer, decision.records]).toEqual([{ kind: "late" }, []]);
    }
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
