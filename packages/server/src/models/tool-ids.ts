import { createHash } from "node:crypto";
import type { ProviderType } from "./port.js";

/** Gives each call of a prompt an id the provider accepts. */
export interface ToolIds {
  /** The id of the next call that was stored under `id`; every call of a prompt gets another one (I-102). */
  next(id: string): string;
}

/** What ids must look like: "nine" is Mistral's exactly nine letters and digits (I-103). */
export type ToolIdStyle = "common" | "nine";

const common = /^[a-zA-Z0-9_-]{1,40}$/;
const nine = /^[a-zA-Z0-9]{9}$/;

/** The style a model wants. */
export function toolIdStyle(type: ProviderType, model: string, baseURL: string | undefined): ToolIdStyle {
  const mistral = /mistral\.ai/i.test(baseURL ?? "") || /(?:^|\/)(?:[a-z]*stral|pixtral)/i.test(model);
  return type === "openai-compatible" && mistral ? "nine" : "common";
}

/** Ids depend only on the stored ids and their order, so a longer history keeps the ids of a shorter one (I-123). */
export function createToolIds(style: ToolIdStyle): ToolIds {
  const used = new Set<string>();
  return {
    next(id) {
      const fits = style === "nine" ? nine : common;
      let candidate = fits.test(id) ? id : derived(style, id, 0);
      for (let round = 1; used.has(candidate); round++) candidate = derived(style, id, round);
      used.add(candidate);
      return candidate;
    },
  };
}

function derived(style: ToolIdStyle, id: string, round: number): string {
  const hash = createHash("sha256").update(`${id}\n${round}`).digest("hex");
  return style === "nine" ? hash.slice(0, 9) : `call_${hash.slice(0, 24)}`;
}
