import type { Answer } from "./answer.js";
import type { Draft } from "./draft.js";
import { setBlobFrame } from "./frames.js";
import type { Projection, RunInput } from "./inputs.js";

/**
 * Checkpoints: projected by the turn room, their blobs offered to the client, published once every blob is
 * acknowledged (O4). A blob problem drops the checkpoint and never harms the turn (W7).
 */
export function decideProjection(
  draft: Draft,
  input: Extract<RunInput, { kind: "projected" | "projection-failed" }>,
): Answer {
  const { checkpoint } = draft.state;
  const revision = input.kind === "projected" ? input.projection.revision : input.revision;
  const due = revision > checkpoint.settled && revision <= checkpoint.wanted;
  if (checkpoint.pending || !due) return { kind: "late" };
  if (input.kind === "projected") {
    offer(draft, input.projection);
    publishIfReady(draft);
  } else {
    drop(draft, revision, input.why);
  }
  return { kind: "accepted" };
}

function offer(draft: Draft, projection: Projection): void {
  const { revision, root, frame, blobs } = projection;
  const needed = blobs.filter((blob) => !draft.state.blobs.held.has(blob.id) && blob.id !== root);
  draft.add(
    { kind: "checkpoint-projected", revision, root, frame, needs: needed.map((blob) => blob.id) },
    { blobs, newestRoot: root },
  );
  // Nobody is there to take blobs: our own store has them, and the newest root.
  if (draft.world.signs.subscribers === 0) return drop(draft, revision, "no client is connected");
  const underWay = new Set([...draft.state.blobs.offered.values()].map((one) => one.blobId));
  for (const blob of needed) {
    if (underWay.has(blob.id)) continue;
    const kv = draft.state.blobs.nextKv;
    draft.add({ kind: "blob-offered", kv, blobId: blob.id }, { frame: setBlobFrame(kv, blob.id, blob.bytes) });
  }
}

/** Takes the client's answer to an offered blob. */
export function confirmBlob(draft: Draft, kv: number, ok: boolean): void {
  if (!draft.state.blobs.offered.has(kv)) return;
  draft.add({ kind: "blob-confirmed", kv, ok });
  const { pending } = draft.state.checkpoint;
  if (!ok && pending) return drop(draft, pending.revision, "the client refused a blob");
  publishIfReady(draft);
}

/** Takes the client's answer to a question for a blob: stored when it is what its name says. */
export function receiveBlob(draft: Draft, kv: number, bytes: Uint8Array | undefined): void {
  const asked = draft.state.blobs.asked.get(kv);
  if (!asked) return;
  const found = bytes !== undefined && draft.world.logic.isBlob(asked.blobId, bytes);
  draft.add({ kind: "blob-received", kv, found }, found ? { blobs: [{ id: asked.blobId, bytes }] } : {});
}

function publishIfReady(draft: Draft): void {
  const { pending } = draft.state.checkpoint;
  if (!pending || !pending.needs.every((id) => draft.state.blobs.held.has(id))) return;
  draft.add({ kind: "checkpoint-published", revision: pending.revision }, { frame: { encoded: pending.frame } });
}

/** Gives a checkpoint up; the one before stays valid. */
export function drop(draft: Draft, revision: number, why: string): void {
  if (revision <= draft.state.checkpoint.settled) return;
  draft.add({ kind: "checkpoint-dropped", revision, why });
}
