import type { Decision } from "../../../packages/server/src/run/decide.js";
import { fault } from "../../../packages/server/src/run/faults.js";
import type { PassEvent } from "../../../packages/server/src/run/inputs.js";
import { hashOf } from "../../../packages/server/src/run/sequence.js";
import { openExecs } from "../../../packages/server/src/run/state.js";
import type { RunDriver } from "./run-driver.js";
import { callOf, closeAnswered, endOf, project, textOf } from "./situations.js";
import * as toy from "./toy-messages.js";

/** One row of the table: an input, and what has to be so before it is given. */
export interface TableInput {
  readonly name: string;
  /** Starts from the situation with little going on; by default from the one with much. */
  readonly calm?: boolean;
  readonly before?: (driver: RunDriver) => unknown;
  readonly give: (driver: RunDriver) => Decision;
}

export interface TableGroup {
  readonly title: string;
  readonly inputs: readonly TableInput[];
}

function message(
  name: string,
  make: (driver: RunDriver) => toy.ToyMessage,
  more: Partial<TableInput> = {},
): TableInput {
  return { name, give: (driver) => driver.append("next", make(driver)), ...more };
}

function pass(name: string, event: PassEvent, calm = false): TableInput {
  return { name, calm, give: (driver) => driver.pass(event) };
}

/** Fires a timer at the time it was set for, or now when there is no such deadline. */
function timer(name: string, meaning: string, more: Partial<TableInput> = {}): TableInput {
  const give = (driver: RunDriver) => {
    const due = driver.wanted.deadlines.find((deadline) => deadline.name.split(":")[0] === name);
    driver.now = Math.max(driver.now, due?.at ?? 0);
    return driver.give({ kind: "timer", timer: due?.name ?? name });
  };
  return { name: `\`${name}\`: ${meaning}`, give, ...more };
}

function lastBlobConfirmed(driver: RunDriver): toy.ToyMessage {
  return toy.setBlobResult(driver.state.blobs.offered.keys().next().value ?? 99, true);
}

function askedBlob(driver: RunDriver): number {
  return driver.state.blobs.asked.keys().next().value ?? 99;
}

function answerAllButFirst(driver: RunDriver): void {
  for (const { exec } of openExecs(driver.state).slice(1)) driver.append("next", toy.execResult(exec));
}

function openExec(driver: RunDriver): number {
  return openExecs(driver.state)[0]?.exec ?? 99;
}

function answeredExec(driver: RunDriver): number {
  return [...driver.state.execs.values()].find(({ status }) => status === "answered")?.exec ?? 99;
}

function settleCheckpoint(driver: RunDriver): void {
  for (const kv of driver.state.blobs.offered.keys()) driver.append("next", toy.setBlobResult(kv, true));
}

/** An append that is stored in every situation: the first one, or one that waits when there was none. */
function stored(driver: RunDriver): { readonly number: number; readonly message: toy.ToyMessage } {
  if (hashOf(driver.state.sequence, 0) !== undefined) return { number: 0, message: toy.runRequest() };
  return { number: 40, message: toy.unknownMessage(1) };
}

function storeOne(driver: RunDriver): void {
  const { number, message } = stored(driver);
  driver.append(number, message);
}

/** Every kind of input there is, with the cases that differ. */
export const tableGroups: readonly TableGroup[] = [
  {
    title: "Client messages (each an append whose turn has come)",
    inputs: [
      message("run_request", () => toy.runRequest("another"), { calm: true }),
      message("run_request that asks for the request context", () => toy.runRequest("with-context"), { calm: true }),
      message("run_request the turn room refuses", () => toy.runRequest(""), { calm: true }),
      message("result of an open execution, others are open", () => toy.execResult(1)),
      message("result of the last open execution", () => toy.execResult(1), { before: answerAllButFirst }),
      message("result of an answered or unknown execution", () => toy.execResult(2)),
      message("output of an open shell", () => toy.shellOutput(1, "stdout", "x")),
      message("stream_close of an open execution", (driver) => toy.streamClose(openExec(driver))),
      message("stream_close of an answered execution, the checkpoint is pending", (driver) =>
        toy.streamClose(answeredExec(driver)),
      ),
      message("stream_close of an answered execution", (driver) => toy.streamClose(answeredExec(driver)), {
        before: settleCheckpoint,
      }),
      message("throw of an open execution", (driver) => toy.execThrow(openExec(driver))),
      message("set_blob_result: the last blob of a checkpoint is held", lastBlobConfirmed, {
        before: closeAnswered,
      }),
      message("set_blob_result: refused", (driver) =>
        toy.setBlobResult(driver.state.blobs.offered.keys().next().value ?? 99, false),
      ),
      message("get_blob_result: the last asked blob", (driver) => toy.getBlobResult(askedBlob(driver), "c2")),
      message("get_blob_result: the client does not have it", (driver) =>
        toy.getBlobResult(askedBlob(driver), undefined),
      ),
      message("cancel_action", () => toy.cancelAction(), { calm: true }),
      message("any other message", () => toy.unknownMessage()),
    ],
  },
  {
    title: "Appends out of the ordinary",
    inputs: [
      {
        name: "the number and the bytes of a stored append",
        calm: true,
        before: storeOne,
        give: (driver) => driver.append(stored(driver).number, stored(driver).message),
      },
      {
        name: "the number of a stored append, other bytes",
        calm: true,
        before: storeOne,
        give: (driver) => driver.append(stored(driver).number, toy.unknownMessage(2)),
      },
      {
        name: "a number that leaves a gap",
        calm: true,
        give: (driver) => driver.append(50, toy.unknownMessage()),
      },
      { name: "numbers of heartbeats", calm: true, give: (driver) => driver.give({ kind: "numbers", numbers: [60] }) },
    ],
  },
  {
    title: "Reports of the running pass",
    inputs: [
      pass("text or thinking", textOf(" then")),
      pass("a block ended", { kind: "block-ended", channel: "text" }),
      pass("a call that asks for executions", callOf([1])),
      pass("a call that is done at once", callOf([])),
      pass("a call that was cut", callOf([1], false)),
      pass("blobs are missing", { kind: "blobs-missing", blobs: ["d3"] }, true),
      pass("ended, calls are open", endOf("tool-calls")),
      {
        name: "ended, all calls are closed",
        calm: true,
        before: (driver) => void driver.pass(callOf([])),
        give: (driver) => driver.pass(endOf("tool-calls")),
      },
      pass("ended with text and no call", endOf("stop"), true),
      {
        name: "ended with nothing, for the first time",
        calm: true,
        before: (driver) => {
          driver.pass(callOf([]));
          driver.pass(endOf("tool-calls"));
        },
        give: (driver) => driver.pass(endOf("stop")),
      },
      {
        name: "ended with nothing, again",
        calm: true,
        before: (driver) => {
          driver.pass(callOf([]));
          driver.pass(endOf("tool-calls"));
          driver.pass(endOf("stop"));
        },
        give: (driver) => driver.pass(endOf("stop")),
      },
      pass("failed", { kind: "failed", fault: fault("model/truncated", "Cut.") }),
      {
        name: "any report of another pass",
        give: (driver) => driver.give({ kind: "pass", pass: driver.state.passes - 1, event: textOf("late") }),
      },
    ],
  },
  {
    title: "Checkpoints",
    inputs: [
      { name: "projected, the client lacks a blob", calm: true, give: (driver) => project(driver, ["c2"]) },
      { name: "projected, the client has all blobs", calm: true, give: (driver) => project(driver, []) },
      {
        name: "projected, nobody is connected",
        calm: true,
        before: (driver) => driver.unsubscribe(),
        give: (driver) => project(driver, ["c2"]),
      },
      { name: "projected while another one is pending", give: (driver) => project(driver, []) },
      {
        name: "the projection failed",
        calm: true,
        give: (driver) => {
          const revision = Math.max(driver.state.checkpoint.wanted, driver.state.checkpoint.settled + 1);
          return driver.give({ kind: "projection-failed", revision, why: "no" });
        },
      },
    ],
  },
  {
    title: "Timers (at the time they are set for)",
    inputs: [
      timer("start", "nothing started the run", { calm: true }),
      timer("gap", "an append is missing", { before: (driver) => void driver.append(50, toy.unknownMessage()) }),
      timer("gap", "an append is missing after a change of owner", {
        calm: true,
        before: (driver) => {
          driver.crash(1);
          driver.append(50, toy.unknownMessage());
        },
      }),
      timer("exec-silent", "an execution gives no sign of life"),
      timer("exec-close", "the result after a close, or the close after a result, did not come"),
      timer("blob-ask", "an asked blob did not come"),
      timer("checkpoint", "a checkpoint takes too long", { before: closeAnswered }),
      timer("grace", "the last subscriber is gone for too long", {
        calm: true,
        before: (driver) => driver.unsubscribe(),
      }),
      timer("total", "the run takes too long", { calm: true }),
      timer("pass-silent", "the model side gives no sign of life", { calm: true }),
      {
        name: "a timer of something that is over",
        give: (driver) => driver.give({ kind: "timer", timer: "blob-ask:77" }),
      },
    ],
  },
  {
    title: "From the server",
    inputs: [
      {
        name: "cancel (superseded, admin)",
        calm: true,
        give: (driver) => driver.give({ kind: "cancel", fault: fault("run/superseded", "Newer.") }),
      },
      { name: "stop", calm: true, give: (driver) => driver.give({ kind: "stop" }) },
      { name: "taken over by another owner", calm: true, give: (driver) => driver.give({ kind: "taken-over" }) },
    ],
  },
];
