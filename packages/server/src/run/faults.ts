/** Whether the same request may succeed later; advice for people and for our own retry layer, never for clients (T8). */
export type RetryAdvice = "never" | "later" | "now";

interface FaultKind {
  readonly retry: RetryAdvice;
  /** What a user reads as the title when nothing more precise is known. */
  readonly say: string;
}

/** Every fault the server can name. The code is stable; rpc/errors.ts maps each to a Connect code. */
export const faultKinds = {
  "append/malformed": { retry: "never", say: "The append could not be read" },
  "append/conflict": { retry: "never", say: "The append number was used with other bytes" },
  "append/gap": { retry: "never", say: "An earlier append never arrived" },
  "append/overflow": { retry: "later", say: "Too many appends are waiting for an earlier one" },
  "request/invalid": { retry: "never", say: "The request is not valid" },
  "request/not-found": { retry: "never", say: "There is no such run" },
  "request/unauthenticated": { retry: "never", say: "The API key is missing or wrong" },
  "request/forbidden": { retry: "never", say: "The request is not allowed from there" },
  "request/overloaded": { retry: "later", say: "The server has too much to do" },
  "run/canceled": { retry: "never", say: "The run was canceled" },
  "run/superseded": { retry: "never", say: "A newer request of the conversation took over" },
  "run/no-client": { retry: "never", say: "The client went away" },
  "run/deadline": { retry: "never", say: "The run took too long" },
  "run/limit": { retry: "never", say: "The run reached a limit" },
  "run/unreadable": { retry: "never", say: "The run's log could not be read" },
  "server/stopping": { retry: "later", say: "The server is stopping" },
  "server/internal": { retry: "never", say: "Something went wrong in the server" },
  "log/stale-fence": { retry: "never", say: "Another owner has the run" },
  "log/write-failed": { retry: "later", say: "The log could not be written" },
  "model/unknown": { retry: "never", say: "The model is not configured" },
  "model/auth": { retry: "never", say: "The model provider refused the API key" },
  "model/quota": { retry: "never", say: "The account at the model provider has no quota left" },
  "model/bad-request": { retry: "never", say: "The model provider refused the request" },
  "model/context-overflow": { retry: "never", say: "The conversation is too long for the model" },
  "model/rate-limited": { retry: "later", say: "The model provider limits the rate" },
  "model/overloaded": { retry: "later", say: "The model provider is busy" },
  "model/unreachable": { retry: "later", say: "The model provider could not be reached" },
  "model/truncated": { retry: "now", say: "The model provider closed the stream early" },
  "model/timeout": { retry: "later", say: "The model provider did not answer in time" },
  "model/garbled": { retry: "now", say: "The model provider sent something unreadable" },
  "model/empty": { retry: "now", say: "The model returned nothing" },
  "model/filtered": { retry: "never", say: "The model provider withheld the answer" },
} as const satisfies Record<string, FaultKind>;

export type FaultCode = keyof typeof faultKinds;

/** One fault as data: what is stored in a record and shown to a person. */
export interface Fault {
  readonly code: FaultCode;
  readonly title: string;
  /** Cause, provider, status and next step, in words for the user. Never holds a secret. */
  readonly detail: string;
  readonly provider?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** Builds a fault; the title defaults to the catalogue's words. */
export function fault(code: FaultCode, detail: string, more: Partial<Omit<Fault, "code" | "detail">> = {}): Fault {
  return { title: faultKinds[code].say, ...more, code, detail };
}

const mark = Symbol.for("keyturn.fault");

/** The one error class: a thrown fault. */
export class FaultError extends Error {
  readonly [mark] = true;
  readonly fault: Fault;

  constructor(of: Fault, options?: { cause?: unknown }) {
    super(`${of.code}: ${of.detail}`, options);
    this.name = "FaultError";
    this.fault = of;
  }

  /** Recognises fault errors, also those of another copy of this module. */
  static is(value: unknown): value is FaultError {
    return typeof value === "object" && value !== null && mark in value;
  }
}
