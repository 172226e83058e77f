import { fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { type ErrorDetails, ErrorDetailsSchema } from "@keyturn/protocol/aiserver";

/** An error as the server worded it. */
export interface ServerError {
  /** A Connect code by its wire name, `unavailable`; or `http_404` when the answer was none of Connect's. */
  readonly code: string;
  readonly message: string;
  readonly title?: string;
  readonly detail?: string;
  /** The server's own name for the kind of error, such as `BAD_MODEL_NAME`. */
  readonly kind?: string;
  /** The server says that the same request may be sent again. */
  readonly isRetryable: boolean;
}

/** The server answered a request, and said no. */
export class ServerRefusal extends Error {
  override readonly name = "ServerRefusal";
  /** The status of HTTP. */
  readonly status: number;
  readonly error: ServerError;

  constructor(status: number, error: ServerError) {
    super(error.message);
    this.status = status;
    this.error = error;
  }

  /** Whether the same bytes may be taken a moment later. */
  get isTemporary(): boolean {
    if (this.error.isRetryable) return true;
    return temporaryCodes.has(this.error.code) || (isForeign(this.error) && temporaryStatuses.has(this.status));
  }

  /** Whether another HTTP version, or another server, may be what is needed. */
  get isMismatch(): boolean {
    return isForeign(this.error) ? mismatchStatuses.has(this.status) : this.error.code === "unimplemented";
  }
}

const temporaryCodes = new Set(["unavailable", "resource_exhausted", "aborted"]);
/** What stands between client and server answers so while the server is being restarted. */
const temporaryStatuses = new Set([408, 425, 429, 502, 503, 504]);
const mismatchStatuses = new Set([200, 301, 302, 307, 308, 404, 405, 411, 415, 426, 501, 505]);

function isForeign({ code }: ServerError): boolean {
  return code.startsWith("http_");
}

/** Reads the JSON that ends a stream or is the body of a refused call; undefined when it is no error of Connect's. */
export function readServerError(value: unknown): ServerError | undefined {
  const outer = asObject(value);
  // The account endpoints wrap theirs once more.
  const error = asObject(outer.error) ?? outer;
  if (typeof error.code !== "string") return undefined;
  const message = typeof error.message === "string" ? error.message : "";
  const details = Array.isArray(error.details) ? readDetails(error.details as unknown[]) : undefined;
  return {
    code: error.code,
    message: message || details?.details?.detail || error.code,
    ...(details?.details?.title ? { title: details.details.title } : {}),
    ...(details?.details?.detail ? { detail: details.details.detail } : {}),
    ...(details ? { kind: kindOf(details) } : {}),
    isRetryable: details?.details?.isRetryable === true,
  };
}

/** The error of an answer that was not what a server of this protocol sends. */
export function foreignAnswer(status: number, what: string): ServerRefusal {
  return new ServerRefusal(status, { code: `http_${status}`, message: what, isRetryable: false });
}

function readDetails(details: readonly unknown[]): ErrorDetails | undefined {
  for (const each of details) {
    const { type, value } = asObject(each);
    if (type !== ErrorDetailsSchema.typeName || typeof value !== "string") continue;
    try {
      return fromBinary(ErrorDetailsSchema, base64Decode(value));
    } catch {
      return undefined;
    }
  }
  return undefined;
}

function kindOf({ error }: ErrorDetails): string {
  const names = ErrorDetailsSchema.nestedEnums[0]?.value;
  return names?.[error]?.localName ?? String(error);
}

function asObject(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { readonly [name: string]: unknown }) : {};
}
