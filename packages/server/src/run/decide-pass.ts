import type { Answer } from "./answer.js";
import { openCall } from "./decide-call.js";
import { failRun } from "./decide-end.js";
import type { Draft } from "./draft.js";
import { closeBlock, endPass } from "./end-pass.js";
import { fault } from "./faults.js";
import { deltaFrame, getBlobFrame } from "./frames.js";
import type { PassEvent } from "./inputs.js";
import { noUsage } from "./usage.js";

/** Takes a report of the running pass; one of an earlier pass is late (it was cut and closed). */
export function decidePass(draft: Draft, pass: number, event: PassEvent | { kind: "interrupted" }): Answer {
  const { phase } = draft.state;
  if (phase.kind !== "provider_running" || phase.pass !== pass) return { kind: "late" };
  switch (event.kind) {
    case "delta":
      if (event.text === "") break;
      if (draft.state.block && draft.state.block.channel !== event.channel)
        closeBlock(draft, draft.state.block.channel);
      draft.add(
        { kind: "text-added", channel: event.channel, text: event.text },
        { frame: deltaFrame(event.channel, event.text) },
      );
      break;
    case "block-ended":
      // Reasoning that was only encrypted has no visible block, but its provider data must come back (I-113).
      if (draft.state.block?.channel === event.channel || event.provider)
        closeBlock(draft, event.channel, event.provider);
      break;
    case "call":
      if (draft.state.block) closeBlock(draft, draft.state.block.channel);
      openCall(draft, phase.modelCallId, event);
      break;
    case "blobs-missing":
      askForBlobs(draft, event.blobs);
      break;
    case "ended":
      endPass(draft, event.reason, event.usage);
      break;
    case "interrupted":
      endPass(draft, "interrupted", noUsage);
      if (draft.state.interruptions > draft.world.limits.maxInterruptions) {
        failRun(draft, fault("run/limit", `The model call was cut ${draft.state.interruptions} times in a row.`));
      } else {
        draft.add({ kind: "noted", note: "interrupted" });
      }
      break;
    case "failed":
      // An answer without anything in it is an answer all the same: the model is asked once more (I-101).
      if (event.fault.code === "model/empty") {
        endPass(draft, "stop", noUsage);
        break;
      }
      endPass(draft, "failed", noUsage, event.fault);
      failRun(draft, event.fault);
      break;
  }
  return { kind: "accepted" };
}

function askForBlobs(draft: Draft, blobs: readonly string[]): void {
  endPass(draft, "blocked", noUsage);
  const asked = new Set([...draft.state.blobs.asked.values()].map((one) => one.blobId));
  for (const blobId of blobs) {
    if (asked.has(blobId) || draft.state.blobs.lost.has(blobId)) continue;
    const kv = draft.state.blobs.nextKv;
    draft.add({ kind: "blob-asked", kv, blobId }, { frame: getBlobFrame(kv, blobId) });
  }
  if (draft.state.blobs.asked.size > 0) return;
  failRun(
    draft,
    fault("server/internal", "The history could not be loaded: it names blobs that were given up before."),
  );
}
