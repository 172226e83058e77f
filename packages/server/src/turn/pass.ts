import type { ModelEvent, ModelInfo } from "../models/port.js";
import { FaultError, fault } from "../run/faults.js";
import type { HistoryMessage } from "../run/history.js";
import type { BlobId } from "../run/ids.js";
import type { PassEvent } from "../run/inputs.js";
import type { RunState } from "../run/state.js";
import { offeredTools } from "../tools/catalogue.js";
import { turnFacts } from "./facts.js";
import { type HistoryLoader, lostHistoryNote } from "./load-history.js";
import { turnMessages } from "./messages.js";
import { openingMessages } from "./opening.js";
import type { TurnServices } from "./services.js";
import { toolContext } from "./tool-context.js";

/** How a pass reports: see the engine's port. */
export interface PassReports {
  emit(event: PassEvent): Promise<void>;
  alive(): void;
}

/**
 * Runs one provider pass: history, then this turn, to the model; what it says, to the run. Missing blobs of the
 * history are reported instead, and the pass is taken up again when the client has answered.
 */
export async function runPass(
  services: TurnServices,
  loader: HistoryLoader,
  state: RunState,
  reports: PassReports,
  signal: AbortSignal,
): Promise<void> {
  const model = services.models.resolve(state.request?.model ?? "");
  if (!model) {
    const detail = `The model "${state.request?.model}" is no longer configured on this server.`;
    return reports.emit({ kind: "failed", fault: fault("model/unknown", detail) });
  }
  const base = await loader.load(state);
  const missing = base.missing.filter((id) => !state.blobs.lost.has(id));
  const images = await missingImages(services, base.messages, state);
  if (missing.length + images.length > 0) {
    return reports.emit({ kind: "blobs-missing", blobs: [...new Set([...missing, ...images])] });
  }
  const messages = promptOf(state, base.messages, base.missing.length, model);
  const request = {
    model,
    messages,
    tools: offeredTools(toolContext(state, turnFacts(state).startedAt)),
    parameters: turnFacts(state).parameters,
    cacheKey: state.request?.conversationId ?? "",
    image: async (id: BlobId) => (await services.blobs.get([id])).get(id),
  };
  try {
    for await (const event of services.models.stream(request, signal)) {
      if (signal.aborted) return;
      reports.alive();
      const told = translate(event);
      if (told) await reports.emit(told);
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!FaultError.is(error)) throw error;
    await reports.emit({ kind: "failed", fault: error.fault });
  }
}

/** The whole prompt: what the conversation was, what opens this turn, and what the turn has brought so far. */
export function promptOf(
  state: RunState,
  history: readonly HistoryMessage[],
  lostMessages: number,
  model: Pick<ModelInfo, "displayName">,
): readonly HistoryMessage[] {
  const opening = openingMessages(state, history, model);
  const note = lostMessages > 0 ? [lostHistoryNote(lostMessages)] : [];
  const system = opening.filter((message) => message.role === "system");
  const rest = opening.filter((message) => message.role !== "system");
  return [...system, ...history, ...note, ...rest, ...turnMessages(state)];
}

async function missingImages(
  services: TurnServices,
  history: readonly HistoryMessage[],
  state: RunState,
): Promise<readonly BlobId[]> {
  const named = [...history.flatMap(imagesOf), ...turnFacts(state).images.map((image) => image.blobId)];
  const wanted = named.filter((id) => !state.blobs.lost.has(id));
  if (wanted.length === 0) return [];
  const found = await services.blobs.get(wanted);
  return wanted.filter((id) => !found.has(id));
}

function imagesOf(message: HistoryMessage): readonly BlobId[] {
  if (message.role !== "user") return [];
  return message.content.flatMap((part) => (part.type === "image" ? part.blobId : []));
}

function translate(event: ModelEvent): PassEvent | undefined {
  switch (event.kind) {
    case "text-delta":
      return { kind: "delta", channel: "text", text: event.text };
    case "text-ended":
      return { kind: "block-ended", channel: "text", provider: event.provider };
    case "reasoning-delta":
      return { kind: "delta", channel: "thinking", text: event.text };
    case "reasoning-ended":
      return { kind: "block-ended", channel: "thinking", provider: event.provider };
    case "call":
      return {
        kind: "call",
        name: event.name,
        args: event.args,
        complete: event.complete,
        provider: event.provider,
      };
    case "ended":
      return { kind: "ended", reason: event.reason, usage: event.usage };
    // Arguments in the making and waits for a retry show nothing yet; the heartbeat says that the run is alive.
    case "call-started":
    case "call-delta":
    case "waiting":
      return undefined;
  }
}
