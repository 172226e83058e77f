import type { Draft } from "./draft.js";
import type { Fault } from "./faults.js";
import { stepCompletedFrame, thinkingCompletedFrame } from "./frames.js";
import type { ProviderData } from "./history.js";
import type { Channel, PassEnd } from "./records.js";
import type { Usage } from "./usage.js";

/** Ends the running pass: its open block becomes part of the turn. */
export function endPass(draft: Draft, reason: PassEnd, usage: Usage, cause?: Fault): void {
  const { phase, block } = draft.state;
  if (phase.kind !== "provider_running") return;
  if (block) closeBlock(draft, block.channel);
  const frame = reason === "blocked" ? {} : { frame: stepCompletedFrame(phase.pass, draft.world.now - phase.since) };
  draft.add({ kind: "pass-ended", pass: phase.pass, reason, usage, fault: cause }, frame);
}

/** Makes the open block, or provider data that came without one, part of the turn. */
export function closeBlock(draft: Draft, channel: Channel, provider?: ProviderData): void {
  const { block } = draft.state;
  const visible = block?.channel === channel;
  // Ended by something else than the open block: that goes on, and provider data without text has a place of its own.
  if (block && !visible && !provider) return;
  const frame =
    channel === "thinking" && visible ? { frame: thinkingCompletedFrame(draft.world.now - block.since) } : {};
  draft.add({ kind: "block-closed", channel, provider }, frame);
}
