import { create, toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import { ErrorDetails_Error, ErrorDetailsSchema } from "@keyturn/protocol/aiserver";
import { endStreamEnvelope, MalformedMessage } from "@keyturn/protocol/codec";
import { type Fault, type FaultCode, FaultError, fault } from "../run/faults.js";
import type { Outcome } from "../run/phases.js";

/** The Connect code of every fault (T8). */
export const codeOfFault = {
  "append/malformed": Code.InvalidArgument,
  "append/conflict": Code.AlreadyExists,
  "append/gap": Code.DeadlineExceeded,
  "append/overflow": Code.ResourceExhausted,
  "request/invalid": Code.InvalidArgument,
  "request/not-found": Code.NotFound,
  "request/unauthenticated": Code.Unauthenticated,
  "request/forbidden": Code.PermissionDenied,
  "request/overloaded": Code.Unavailable,
  "run/canceled": Code.Canceled,
  "run/superseded": Code.Canceled,
  "run/no-client": Code.Canceled,
  "run/deadline": Code.DeadlineExceeded,
  "run/limit": Code.FailedPrecondition,
  "run/unreadable": Code.DataLoss,
  "server/stopping": Code.Unavailable,
  "server/internal": Code.Internal,
  "log/stale-fence": Code.Unavailable,
  "log/write-failed": Code.Unavailable,
  "model/unknown": Code.InvalidArgument,
  // Not `unauthenticated`: to a client that means its key for this server.
  "model/auth": Code.FailedPrecondition,
  "model/quota": Code.ResourceExhausted,
  "model/bad-request": Code.FailedPrecondition,
  "model/context-overflow": Code.InvalidArgument,
  "model/rate-limited": Code.ResourceExhausted,
  "model/overloaded": Code.Unavailable,
  "model/unreachable": Code.Unavailable,
  "model/truncated": Code.Unavailable,
  "model/timeout": Code.Unavailable,
  "model/garbled": Code.Unavailable,
  "model/empty": Code.Unavailable,
  "model/filtered": Code.FailedPrecondition,
} as const satisfies Record<FaultCode, Code>;

/** What clients show and offer for a fault; those that only need its words get a custom message. */
const kindOfFault: Partial<Record<FaultCode, ErrorDetails_Error>> = {
  "append/malformed": ErrorDetails_Error.BAD_REQUEST,
  "append/conflict": ErrorDetails_Error.BAD_REQUEST,
  "request/invalid": ErrorDetails_Error.BAD_REQUEST,
  "request/not-found": ErrorDetails_Error.NOT_FOUND,
  "request/unauthenticated": ErrorDetails_Error.BAD_API_KEY,
  "request/forbidden": ErrorDetails_Error.UNAUTHORIZED,
  "run/deadline": ErrorDetails_Error.TIMEOUT,
  "server/internal": ErrorDetails_Error.INTERNAL,
  "model/unknown": ErrorDetails_Error.BAD_MODEL_NAME,
  "model/auth": ErrorDetails_Error.BAD_USER_API_KEY,
  "model/quota": ErrorDetails_Error.PROVIDER_ERROR,
  "model/bad-request": ErrorDetails_Error.PROVIDER_ERROR,
  "model/context-overflow": ErrorDetails_Error.CONVERSATION_TOO_LONG,
  "model/rate-limited": ErrorDetails_Error.RATE_LIMITED,
  "model/overloaded": ErrorDetails_Error.PROVIDER_ERROR,
  "model/unreachable": ErrorDetails_Error.PROVIDER_ERROR,
  "model/truncated": ErrorDetails_Error.PROVIDER_ERROR,
  "model/timeout": ErrorDetails_Error.PROVIDER_ERROR,
  "model/garbled": ErrorDetails_Error.PROVIDER_ERROR,
  "model/empty": ErrorDetails_Error.PROVIDER_ERROR,
  "model/filtered": ErrorDetails_Error.PROVIDER_ERROR,
};

/**
 * Only faults of which a repetition costs nothing: a client replays a retryable request, and a provider failure
 * replayed is paid twice (T8).
 */
const retryable: ReadonlySet<FaultCode> = new Set(["server/stopping", "log/stale-fence", "request/overloaded"]);

/** An error as it goes over the wire, at the end of a stream or as the answer of a unary call. */
export interface WireError {
  readonly code: Code;
  readonly message: string;
  readonly details: readonly { readonly type: string; readonly value: Uint8Array }[];
}

/** The wire form of a fault: code, "title: detail", and the details that clients show in place of it. */
export function faultToWire(of: Fault): WireError {
  const code = codeOfFault[of.code];
  const message = `${of.title}: ${of.detail}`;
  // A client shows `canceled` without details as a canceled turn, and with details as a failure.
  if (code === Code.Canceled) return { code, message, details: [] };
  const details = create(ErrorDetailsSchema, {
    error: kindOfFault[of.code] ?? ErrorDetails_Error.CUSTOM_MESSAGE,
    details: {
      // Clients join title and detail with a space.
      title: `${of.title}.`,
      detail: of.detail,
      isRetryable: retryable.has(of.code),
      showRequestId: true,
    },
  });
  return {
    code,
    message,
    details: [{ type: ErrorDetailsSchema.typeName, value: toBinary(ErrorDetailsSchema, details) }],
  };
}

/** The wire form of anything thrown. What is neither a fault nor a refusal is a defect of ours and stays unsaid. */
export function errorToWire(error: unknown): WireError {
  if (FaultError.is(error)) return faultToWire(error.fault);
  if (MalformedMessage.isInstance(error)) return faultToWire(fault("append/malformed", error.message));
  if (error instanceof ConnectError) return { code: error.code, message: error.rawMessage, details: [] };
  return faultToWire(fault("server/internal", "The server's log has the cause."));
}

/** Whether an error is an answer to the caller, not a defect that has to be logged. */
export function isExpected(error: unknown): boolean {
  if (FaultError.is(error)) return error.fault.code !== "server/internal";
  return MalformedMessage.isInstance(error) || error instanceof ConnectError;
}

/** The frame that ends a run's stream: `{}` for a completed run, else its error; a canceled one always says `canceled`. */
export function endOfRun(outcome: Outcome): Uint8Array {
  if (outcome.kind === "completed") return endStreamEnvelope();
  const error = faultToWire(outcome.fault);
  return endOfStream(outcome.kind === "canceled" ? { ...error, code: Code.Canceled, details: [] } : error);
}

/** The frame that ends a stream with an error. */
export function endOfStream({ code, message, details }: WireError): Uint8Array {
  return endStreamEnvelope({ code: codeToString(code), message, ...(details.length > 0 ? { details } : {}) });
}

/** The HTTP status and JSON body of a unary call's error, as Connect has them. */
export function unaryError({ code, message, details }: WireError): { status: number; body: object } {
  const encoded = details.map(({ type, value }) => ({ type, value: base64Encode(value, "std_raw") }));
  return {
    status: codeToHttpStatus(code),
    body: { code: codeToString(code), message, ...(encoded.length > 0 ? { details: encoded } : {}) },
  };
}
