/** Why a store could not be opened. */
export type StoreOpenCode = "in-use" | "missing" | "newer-schema" | "not-a-store" | "unsupported" | "unavailable";

/** The store cannot be opened; the message says in one sentence why and what to do, and holds no secret. */
export class StoreOpenError extends Error {
  readonly code: StoreOpenCode;

  constructor(code: StoreOpenCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "StoreOpenError";
    this.code = code;
  }
}
