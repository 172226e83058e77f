import { APICallError, LoadAPIKeyError, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { type Fault, type FaultCode, FaultError, fault } from "../run/faults.js";
import type { ProviderType } from "./port.js";
import type { Redact } from "./redact.js";
import { type HeaderMap, readRetryAfter } from "./retry-after.js";

/** Whose failure is being named, and how to name it safely. */
export interface FaultSource {
  /** Name of the provider in the config. */
  readonly provider: string;
  readonly type: ProviderType;
  /** The id the provider knows. */
  readonly model: string;
  readonly redact: Redact;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** An error as a provider worded it, in a response or inside a stream. */
export interface ProviderError {
  readonly status?: number;
  /** Code and type words such as "insufficient_quota overloaded_error". */
  readonly kind: string;
  readonly message: string;
}

/** Turns whatever a driver threw into a fault. Faults pass through unchanged; the text is redacted. */
export function toFault(error: unknown, source: FaultSource): Fault {
  if (FaultError.is(error)) return error.fault;
  if (APICallError.isInstance(error)) return apiCallFault(error, source);
  if (LoadAPIKeyError.isInstance(error)) return missingKeyFault(source);
  const network = networkFault(error, source);
  if (network) return network;
  const message = error instanceof Error ? error.message : readProviderError(error)?.message;
  if (UnsupportedFunctionalityError.isInstance(error)) {
    return named(source, "model/bad-request", message ?? "The request is not supported.", undefined);
  }
  return named(source, "model/garbled", message ?? "The answer could not be understood.", undefined);
}

/** The fault of a provider without any key, before a request is made. */
export function missingKeyFault(source: FaultSource): Fault {
  const detail = `No API key is configured for the provider "${source.provider}". Set its apiKey in the config file.`;
  return fault("model/auth", detail, { provider: source.provider });
}

/** The fault of an error a provider worded, by status, code and text (I-83, I-115, I-117). */
export function providerFault(error: ProviderError, source: FaultSource, retryAfterMs?: number): Fault {
  const code = codeOf(error);
  return named(source, code, error.message, error.status, retryAfterMs);
}

/** Reads an `error` value of any vendor's shape; undefined when there is nothing like an error in it. */
export function readProviderError(value: unknown): ProviderError | undefined {
  if (typeof value === "string" && value !== "") return { kind: "", message: value };
  if (typeof value !== "object" || value === null) return undefined;
  const record = value as Record<string, unknown>;
  if (Array.isArray(value)) return readProviderError(value[0]);
  if (record["error"] !== undefined && record["error"] !== null) {
    const inner = readProviderError(record["error"]);
    const status = inner?.status ?? statusOf(record["code"]) ?? statusOf(record["status"]);
    if (inner) return status === undefined ? inner : { ...inner, status };
  }
  const message = firstText(record["message"], record["detail"], record["error_description"], record["msg"]);
  const kind = [record["code"], record["type"], record["status"]].filter((word) => typeof word === "string").join(" ");
  if (message === undefined && kind === "") return undefined;
  const status = statusOf(record["code"]) ?? statusOf(record["status"]) ?? statusOf(record["status_code"]);
  // OpenRouter wraps the upstream's words; without them "Provider returned error" says nothing.
  const metadata = record["metadata"] as { raw?: unknown } | null | undefined;
  const raw = typeof metadata?.raw === "string" ? ` (${metadata.raw})` : "";
  return { kind, message: (message ?? kind) + raw, ...(status === undefined ? {} : { status }) };
}

function apiCallFault(error: APICallError, source: FaultSource): Fault {
  if (error.statusCode === undefined || (error.cause !== undefined && error.statusCode < 300)) {
    const network = networkFault(error, source);
    if (network) return network;
  }
  const body = error.responseBody ?? "";
  const worded = readProviderError(parse(body)) ?? readProviderError(error.data);
  const message = worded?.message ?? excerptOf(body) ?? error.message;
  const headers: HeaderMap = error.responseHeaders ?? {};
  const status = error.statusCode ?? worded?.status;
  return providerFault(
    {
      kind: worded?.kind ?? "",
      message: status !== undefined && status >= 300 && status < 400 ? redirected : message,
      ...(status === undefined ? {} : { status }),
    },
    source,
    readRetryAfter(headers, body, source.now()),
  );
}

const redirected = "The address answered with a redirect, which is not followed.";

const overflow =
  /context.?length|context.?window|maximum context|prompt is too long|too many (?:input )?tokens|input (?:is|token count).*(?:too long|exceed)|exceeds? the (?:model'?s )?(?:maximum|max|context)|request_too_large|reduce the length|input length and `?max_tokens/i;
const hardQuota =
  /insufficient_quota|insufficient.?(?:balance|credits?|funds)|billing|credit balance|out of credits|payment.?required|exceeded your current quota, please check your plan|account.*(?:suspended|deactivated|overdue)|arrearage/i;
const filtered = /content_?(?:policy|filter)|safety_?(?:violation|block)|flagged|blocked by/i;

function codeOf(error: ProviderError): FaultCode {
  const words = `${error.kind} ${error.message}`;
  const { status } = error;
  // Google uses RESOURCE_EXHAUSTED with the words of a quota for its per-minute limits as well.
  if (status === 402 || (hardQuota.test(words) && !/RESOURCE_EXHAUSTED/.test(error.kind))) return "model/quota";
  if (status === 401 || /authentication|unauthori[sz]ed|invalid.?api.?key|api key not valid/i.test(words))
    return "model/auth";
  if (status === 403 || /permission_error|PERMISSION_DENIED/.test(words)) return "model/auth";
  if (status === 413 || ((status === undefined || status === 400 || status === 422) && overflow.test(words))) {
    return "model/context-overflow";
  }
  if (status === 429 || /rate.?limit|too many requests|RESOURCE_EXHAUSTED/i.test(words)) return "model/rate-limited";
  if (status === 529 || /overloaded|UNAVAILABLE|capacity|server_is_busy/i.test(words)) return "model/overloaded";
  if (status === 408 || status === 504 || status === 524 || /timed?.?out|DEADLINE_EXCEEDED/i.test(error.kind))
    return "model/timeout";
  if (status !== undefined && status >= 500) return "model/overloaded";
  if (filtered.test(words)) return "model/filtered";
  if (status !== undefined && status >= 300) return "model/bad-request";
  if (/invalid|bad_request|not_found|INVALID_ARGUMENT/i.test(error.kind)) return "model/bad-request";
  return "model/overloaded";
}

const advice: Partial<Record<FaultCode, (source: FaultSource, status?: number) => string>> = {
  "model/auth": ({ provider }) => `Check the apiKey of the provider "${provider}".`,
  "model/quota": ({ provider }) => `Check the plan and the billing of the account behind "${provider}".`,
  "model/bad-request": ({ provider, model }, status) =>
    status === 404
      ? `Check that the provider "${provider}" offers the model "${model}" and that its baseURL is right.`
      : `Check the settings of the model "${model}" and the baseURL of "${provider}".`,
  "model/context-overflow": () => "Summarize the conversation or start a new one.",
  "model/rate-limited": () => "Try again later or configure a fallback model.",
  "model/overloaded": () => "Try again later or configure a fallback model.",
  "model/unreachable": ({ provider }) => `Check the network and the baseURL of "${provider}".`,
  "model/truncated": () => "Send the message again.",
  "model/timeout": () => "Try again, or raise the provider's timeouts.",
  "model/garbled": ({ provider }) => `Check that the baseURL of "${provider}" speaks the configured protocol.`,
  "model/empty": () => "Send the message again or choose another model.",
  "model/filtered": () => "Rephrase the message.",
};

/** A fault in words: who said what, with which status, and what to do next (I-150). */
export function named(
  source: FaultSource,
  code: FaultCode,
  said: string,
  status?: number,
  retryAfterMs?: number,
): Fault {
  const words = source.redact(shorten(said.trim())) || "No reason was given.";
  const next = advice[code]?.(source, status);
  const head = `${source.provider}${status === undefined ? "" : ` (HTTP ${status})`}: ${words}`;
  return fault(code, next === undefined ? head : `${/[.!?]$/.test(head) ? head : `${head}.`} ${next}`, {
    provider: source.provider,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const unreachable = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_SOCKET",
]);

/** The fault of a connection that could not be made or broke; undefined for other errors. */
export function networkFault(error: unknown, source: FaultSource): Fault | undefined {
  for (const cause of causesOf(error)) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code !== "string") continue;
    if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
      return named(source, "model/timeout", `The provider stopped answering (${code}).`);
    }
    if (unreachable.has(code) || /CERT|TLS|SSL|SELF_SIGNED/.test(code)) {
      return named(source, "model/unreachable", `The connection failed (${code}: ${cause.message}).`);
    }
  }
  return undefined;
}

function* causesOf(error: unknown): Generator<Error> {
  const seen = new Set<unknown>();
  for (let current = error; current instanceof Error && !seen.has(current); current = current.cause) {
    seen.add(current);
    if (current instanceof AggregateError && current.errors[0] instanceof Error) yield current.errors[0];
    yield current;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function excerptOf(body: string): string | undefined {
  const text = body
    .replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return text === "" ? undefined : text;
}

function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}...` : text;
}

function firstText(...values: unknown[]): string | undefined {
  for (const value of values) {
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "object" && value !== null) return JSON.stringify(value);
  }
  return undefined;
}

function statusOf(value: unknown): number | undefined {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === "number" && status >= 300 && status <= 599 ? status : undefined;
}
