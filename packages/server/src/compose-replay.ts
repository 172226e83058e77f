import type { ModelGateway, ModelInfo } from "./models/port.js";
import { type ReplayResult, replayRun } from "./replay/replay-run.js";
import { type RunFile, readRunFile } from "./replay/run-file.js";
import { wireCodec } from "./rpc/wire-codec.js";
import type { Fault } from "./run/faults.js";
import type { RunLogic } from "./run/logic.js";
import { createTurn } from "./turn/turn.js";

/**
 * Replays the text of a run file with this version's core and turn room. No model, no client, no store and no
 * configuration takes part: which model a name meant is taken from the log. Throws RunFileError and FaultError.
 */
export function replayText(text: string): ReplayResult {
  const file = readRunFile(text);
  return replayRun(file, { logic: recordedLogic(file), encode: wireCodec.encodeServerMessage });
}

function recordedLogic(file: RunFile): RunLogic {
  const accepted = file.records.find(({ kind }) => kind === "run-accepted")?.body as { model: string } | undefined;
  const { logic } = createTurn({ models: recordedModels(accepted?.model), blobs: noBlobs });
  if (accepted) return logic;
  // The configuration of then refused the model; its words are in the log.
  const refusal = file.records.find(({ kind }) => kind === "finishing")?.body as { outcome?: { fault?: Fault } };
  const begin: RunLogic["begin"] = (key, message, at) => {
    const begun = logic.begin(key, message, at);
    const isUnknown = "code" in begun && begun.code === "model/unknown";
    return isUnknown ? (refusal?.outcome?.fault ?? begun) : begun;
  };
  return { ...logic, begin };
}

function recordedModels(id: string | undefined): ModelGateway {
  const model: ModelInfo | undefined = id === undefined ? undefined : { ...anyModel, id, displayName: id, model: id };
  return {
    models: () => (model ? [model] : []),
    resolve: () => model,
    stream: () => {
      throw new Error("a replay calls no model");
    },
  };
}

/** Of a model, a run's core sees the id only. */
const anyModel: Omit<ModelInfo, "id" | "displayName" | "model"> = {
  provider: "recorded",
  providerType: "demo",
  contextWindow: 0,
  aliases: [],
  parameters: [],
  vision: false,
};

const noBlobs = { put: () => Promise.resolve(), get: () => Promise.resolve(new Map<string, Uint8Array>()) };
