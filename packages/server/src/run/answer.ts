import type { Fault } from "./faults.js";

/**
 * What the sender of an input is told. `late` inputs are acknowledged and counted, without effect (C2).
 * Refused ones have had no effect and leave no record.
 */
export type Answer =
  | { readonly kind: "accepted" }
  | { readonly kind: "duplicate" }
  | { readonly kind: "late" }
  | { readonly kind: "refused"; readonly fault: Fault };
