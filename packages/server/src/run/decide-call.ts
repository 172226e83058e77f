import type { Draft } from "./draft.js";
import { callCompletedFrame, callStartedFrame } from "./frames.js";
import type { PassEvent } from "./inputs.js";
import type { CallMove } from "./logic.js";
import { openExec } from "./open-exec.js";
import type { CallState } from "./state.js";

/** Opens a tool call as soon as the model has completed it, while its pass goes on (U1). */
export function openCall(draft: Draft, modelCallId: string, event: Extract<PassEvent, { kind: "call" }>): void {
  const { state, world } = draft;
  const inPass = [...state.calls.values()].filter((call) => call.pass === state.passes).length;
  const callId = `tc_${state.request?.tag ?? "none"}_${state.passes}_${inPass}`;
  const { name, args, complete, provider } = event;
  const { toolCall, lock } = world.logic.openCall(state, { callId, name, args, complete });
  draft.add(
    { kind: "call-opened", callId, pass: state.passes, name, args, complete, provider, lock },
    { frame: callStartedFrame(callId, toolCall, modelCallId) },
  );
  const call = draft.state.calls.get(callId);
  if (call?.status === "open") move(draft, call, world.logic.startCall(draft.state, call, world.now));
}

/** Lets a call go on once all its executions have an outcome. */
export function advanceCall(draft: Draft, callId: string): void {
  const call = draft.state.calls.get(callId);
  if (!call || call.status !== "open") return;
  const execs = call.execs.flatMap((id) => draft.state.execs.get(id) ?? []);
  if (execs.some((exec) => exec.status === "open")) return;
  move(draft, call, draft.world.logic.continueCall(draft.state, call, execs, draft.world.now));
}

/** Closes a call nobody will finish, with a result that says why (I-31). Starts no call that waits for its lock. */
export function abandonCall(draft: Draft, call: CallState, why: string): void {
  close(draft, call, draft.world.logic.abandonCall(draft.state, call, why));
}

function move(draft: Draft, call: CallState, next: CallMove): void {
  if (next.kind === "run" && next.executions.length > 0) {
    for (const { key, args } of next.executions) openExec(draft, call.callId, key, args);
    return;
  }
  if (next.kind === "finish") close(draft, call, next);
  // A call that neither finishes nor asks for anything would wait for ever.
  else abandonCall(draft, call, "The tool neither finished nor asked for anything.");
  releaseLock(draft, call);
}

function close(draft: Draft, call: CallState, next: CallMove & { kind: "finish" }): void {
  const { text, isError, toolCall, encoded } = next;
  const images = next.images.map(({ mediaType, blob }) => ({ mediaType, blobId: blob.id }));
  draft.add(
    { kind: "call-closed", callId: call.callId, text, isError, toolCall: encoded, images },
    {
      frame: callCompletedFrame(call.callId, toolCall, modelCallIdOf(draft, call.pass)),
      blobs: next.images.map((image) => image.blob),
    },
  );
  if (next.facts) draft.add({ kind: "facts-changed", facts: next.facts });
}

function releaseLock(draft: Draft, closed: CallState): void {
  if (closed.lock === undefined) return;
  const waiting = [...draft.state.calls.values()].find(
    (call) => call.status === "queued" && call.lock === closed.lock && call.callId !== closed.callId,
  );
  if (waiting) move(draft, waiting, draft.world.logic.startCall(draft.state, waiting, draft.world.now));
}

/** The id of a provider pass, stable across a restart (C1). */
export function modelCallIdOf(draft: Draft, pass: number): string {
  return `mc_${draft.state.request?.tag ?? "none"}_${pass}`;
}
