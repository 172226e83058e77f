import type { TurnEndedUpdate } from "@keyturn/protocol/agent";
import type { TurnUsage } from "./outcome.js";

/** The usage that the end of a turn tells. */
export function usageOf(update: TurnEndedUpdate): TurnUsage {
  return {
    inputTokens: Number(update.inputTokens ?? 0),
    outputTokens: Number(update.outputTokens ?? 0),
    cacheReadTokens: Number(update.cacheReadTokens ?? 0),
    cacheWriteTokens: Number(update.cacheWriteTokens ?? 0),
    reasoningTokens: Number(update.reasoningTokens ?? 0),
  };
}
