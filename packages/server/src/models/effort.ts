import type { Effort } from "./catalog.js";
import type { ModelParameter } from "./port.js";

/** Parameter names that clients use for the thinking effort, without case and punctuation. */
const parameterIds = new Set([
  "effort",
  "thinkingeffort",
  "reasoning",
  "reasoningeffort",
  "thinkingintensity",
  "reasoningintensity",
  "thinking",
  "thinkinglevel",
  "reasoninglevel",
]);

const order: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

const valueNames: Readonly<Record<string, Effort>> = {
  none: "none",
  off: "none",
  disabled: "none",
  false: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  extrahigh: "xhigh",
  max: "max",
  maximum: "max",
};

const displayNames: Readonly<Record<Effort, string>> = {
  none: "Off",
  minimal: "Minimal",
  low: "Low",
  medium: "Medium",
  high: "High",
  xhigh: "Extra high",
  max: "Maximum",
};

/** The parameters to list for a model that takes these efforts; none for a model without a choice. */
export function effortParameters(efforts: readonly Effort[] | undefined): ModelParameter[] {
  if (!efforts || efforts.length < 2) return [];
  const values = efforts.map((value) => ({ value, displayName: displayNames[value] }));
  return [{ id: "effort", displayName: "Thinking effort", values }];
}

/**
 * The effort a request asks for, moved to the nearest one the model takes (a lower one when two are near).
 * Undefined when nothing known was asked for or the model takes no effort; unknown ids and values are ignored.
 */
export function requestedEffort(
  parameters: Readonly<Record<string, string>>,
  efforts: readonly Effort[] | undefined,
): Effort | undefined {
  if (!efforts || efforts.length === 0) return undefined;
  for (const [id, value] of Object.entries(parameters)) {
    const asked = parameterIds.has(plain(id)) ? valueNames[plain(value)] : undefined;
    if (asked !== undefined) return nearest(asked, efforts);
  }
  return undefined;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^a-z]/g, "");
}

function nearest(asked: Effort, efforts: readonly Effort[]): Effort | undefined {
  const wanted = order.indexOf(asked);
  const distance = (effort: Effort) =>
    Math.abs(order.indexOf(effort) - wanted) + (order.indexOf(effort) > wanted ? 0.5 : 0);
  return [...efforts].sort((a, b) => distance(a) - distance(b))[0];
}
