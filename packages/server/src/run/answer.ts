import type { Fault } from "./faults.js";

/**
 * What the sender of an input is told. `late` inputs are acknowledged and counted, without effect (C2).
 * Refused ones have had no effect and leave no record.
 */
export type Answer =
  /** `late`: kept like every append, but what it answers is unknown, closed or answered already. */
  | { readonly kind: "accepted"; readonly late?: true }
  | { readonly kind: "duplicate" }
  | { readonly kind: "late" }
  | { readonly kind: "refused"; readonly fault: Fault };
