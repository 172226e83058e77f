import { expect, test } from "vitest";
import { fault } from "../run/faults.js";
import { providerFault, readProviderError } from "./errors.js";
import { createRedact } from "./redact.js";
import { defaultRetryPolicy, pauseFor } from "./retry.js";
import { readRetryAfter } from "./retry-after.js";

const source = {
  provider: "acme",
  type: "openai" as const,
  model: "m",
  redact: createRedact(["s3cret-value"]),
  now: () => 0,
};

test.each([
  [{ status: 529, kind: "overloaded_error", message: "Overloaded" }, "model/overloaded"],
  [{ status: 503, kind: "UNAVAILABLE", message: "try later" }, "model/overloaded"],
  [{ status: 500, kind: "", message: "boom" }, "model/overloaded"],
  [{ status: 402, kind: "", message: "pay" }, "model/quota"],
  [{ status: 400, kind: "invalid_request_error", message: "Your credit balance is too low" }, "model/quota"],
  [
    { status: 429, kind: "RESOURCE_EXHAUSTED", message: "You exceeded your current quota, please check your plan" },
    "model/rate-limited",
  ],
  [
    { status: 400, kind: "context_length_exceeded", message: "This model's maximum context length is 8192 tokens" },
    "model/context-overflow",
  ],
  [{ status: 413, kind: "request_too_large", message: "Request exceeds the maximum size" }, "model/context-overflow"],
  [{ status: 504, kind: "", message: "gateway timeout" }, "model/timeout"],
  [{ status: 400, kind: "INVALID_ARGUMENT", message: "API key not valid. Please pass a valid API key." }, "model/auth"],
  [{ status: 400, kind: "content_filter", message: "The response was filtered" }, "model/filtered"],
  [{ status: 422, kind: "", message: "extra inputs" }, "model/bad-request"],
  [{ kind: "invalid_request_error", message: "no" }, "model/bad-request"],
  [{ kind: "", message: "something" }, "model/overloaded"],
])("%j is %s", (error, code) => {
  const named = providerFault(error, source);
  expect(named.code).toBe(code);
  expect(named.detail).toContain("acme");
  expect(named.detail).toContain(error.message.replace(/\.$/, ""));
});

test("reads the error shapes of all vendors", () => {
  expect(readProviderError({ error: { code: 502, message: "a", metadata: { raw: "upstream said b" } } })).toEqual({
    kind: "",
    message: "a (upstream said b)",
    status: 502,
  });
  expect(readProviderError({ type: "error", error: { type: "overloaded_error", message: "b" } })).toEqual({
    kind: "overloaded_error",
    message: "b",
  });
  expect(readProviderError([{ error: { code: 400, status: "INVALID_ARGUMENT", message: "c" } }])).toEqual({
    kind: "INVALID_ARGUMENT",
    message: "c",
    status: 400,
  });
  expect(readProviderError({ error: "d" })).toEqual({ kind: "", message: "d" });
  expect(readProviderError({ detail: [{ msg: "e" }] })).toMatchObject({ message: '[{"msg":"e"}]' });
  expect(readProviderError({ choices: [] })).toBeUndefined();
});

test("says what to do next and never more than it may (I-143, I-150)", () => {
  const { detail } = providerFault(
    { status: 404, kind: "", message: "see https://acme.test/v1?key=abc with s3cret-value" },
    source,
  );
  expect(detail).toBe(
    'acme (HTTP 404): see https://acme.test/v1 with [redacted]. Check that the provider "acme" offers the model "m" and that its baseURL is right.',
  );
});

test.each([
  [{ "retry-after": "3" }, "", 3_000],
  [{ "retry-after-ms": "1500", "retry-after": "9" }, "", 1_500],
  [{ "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }, "", 60_000],
  [{ "retry-after": "Wed, 21 Oct 2020 07:28:00 GMT" }, "", 0],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s" }, "", 90_000],
  [{ "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "1m30s" }, "", undefined],
  [{}, '{"retryDelay": "13s"}', 13_000],
  [{}, "Please try again in 250ms.", 250],
  [{ "retry-after": "soon" }, "", undefined],
])("Retry-After %j %s is %s ms (I-115)", (headers, body, expected) => {
  expect(readRetryAfter(headers, body, Date.UTC(2026, 9, 21, 7, 27))).toBe(expected);
});

test("pauses grow, respect the provider's floor, and end (I-115, I-117)", () => {
  const pause = (code: Parameters<typeof fault>[0], so: number, retryAfterMs?: number, random = 0) =>
    pauseFor(fault(code, "", retryAfterMs === undefined ? {} : { retryAfterMs }), so, defaultRetryPolicy, {
      random: () => random,
    });
  expect([pause("model/overloaded", 0), pause("model/overloaded", 1)]).toEqual([1_000, 2_000]);
  expect(pause("model/rate-limited", 0, 5_000, 0.5)).toBe(5_125);
  expect(pause("model/rate-limited", 0, 86_400_000)).toBeUndefined();
  expect(pause("model/auth", 0)).toBeUndefined();
  expect(pause("model/quota", 0)).toBeUndefined();
});
