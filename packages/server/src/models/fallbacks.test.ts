import { describe, expect, test } from "vitest";
import {
  canaryKey,
  collect,
  collectAll,
  gatewayFor,
  requestFor,
  textOf,
} from "../../../../test/support/vendors/gateway-fixture.js";
import { startVendor } from "../../../../test/support/vendors/start-vendor.js";
import { FaultError } from "../run/faults.js";

const never = new AbortController().signal;

describe("fallbacks", () => {
  test("are tried after the retries and before any output", async () => {
    await using broken = await startVendor("anthropic", () => ({
      status: 529,
      error: { type: "overloaded_error", message: "Overloaded" },
    }));
    await using good = await startVendor("openai-compatible", [{ text: "from the other" }]);
    const { gateway, model, sleeps } = gatewayFor("anthropic", broken.baseURL, {
      model: "claude-opus-4-6",
      models: {
        providers: [
          { name: "vendor", type: "anthropic", baseURL: broken.baseURL, apiKey: canaryKey },
          { name: "local", type: "openai-compatible", baseURL: good.baseURL },
        ],
        models: [{ id: "other", provider: "local" }],
        fallbacks: { m: ["other"] },
      },
    });
    const events = await collect(gateway.stream(requestFor(model), never));
    expect(textOf(events)).toBe("from the other");
    expect(broken.requests).toHaveLength(3);
    expect(sleeps).toEqual([1_000, 2_000]);
    expect(events.filter((event) => event.kind === "waiting").at(-1)).toMatchObject({ delayMs: 0 });
  });

  test("a Retry-After of a day is not waited for (I-115)", async () => {
    await using vendor = await startVendor("openai", () => ({ status: 429, headers: { "retry-after": "86400" } }));
    const { gateway, model, sleeps } = gatewayFor("openai", vendor.baseURL);
    const { error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(FaultError.is(error) && error.fault).toMatchObject({ code: "model/rate-limited", retryAfterMs: 86_400_000 });
    expect(sleeps).toEqual([]);
    expect(vendor.requests).toHaveLength(1);
  });

  test("nothing is tried instead of a refused request or after output", async () => {
    await using good = await startVendor("openai-compatible", () => ({ text: "from the other" }));
    for (const answer of [{ status: 400 }, { text: "half", ending: "cut" as const }]) {
      await using broken = await startVendor("openai-compatible", () => answer);
      const { gateway, model } = gatewayFor("openai-compatible", broken.baseURL, {
        models: {
          providers: [
            { name: "vendor", type: "openai-compatible", baseURL: broken.baseURL },
            { name: "local", type: "openai-compatible", baseURL: good.baseURL },
          ],
          models: [{ id: "other", provider: "local" }],
          fallbacks: { m: ["other"] },
        },
      });
      expect((await collectAll(gateway.stream(requestFor(model), never))).error).toBeInstanceOf(FaultError);
    }
    expect(good.requests).toHaveLength(0);
  });
});
