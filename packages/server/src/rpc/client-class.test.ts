import { describe, expect, test } from "vitest";
import { createClassifier } from "./client-class.js";
import type { Exchange } from "./exchange.js";

const defaults = { disconnectGraceMs: 30_000, maxPasses: 7, totalMs: 999_000 };
const classify = createClassifier(
  [
    { headers: { "x-client": "old-*" }, onDisconnect: "cancel", disconnectGraceMs: 5, contentType: "event-stream" },
    {
      headers: { "x-client": "*", "X-Mode": "batch" },
      onDisconnect: "continue",
      disconnectGraceMs: 5,
      contentType: "connect",
    },
  ],
  defaults,
);
const classOf = (headers: Record<string, string>) =>
  classify({ header: (name: string) => headers[name] } as unknown as Exchange);

describe("client classes (T3, R5)", () => {
  test.each([
    [{}, 30_000, "application/connect+proto"],
    [{ "x-client": "old-3" }, 5, "text/event-stream"],
    [{ "x-client": "OLD-3", "keyturn-on-disconnect": "continue" }, 999_000, "text/event-stream"],
    [{ "x-client": "new", "x-mode": "batch" }, 999_000, "application/connect+proto"],
    [{ "x-client": "new", "x-mode": "other" }, 30_000, "application/connect+proto"],
    [{ "keyturn-on-disconnect": "cancel" }, 0, "application/connect+proto"],
  ])("%o", (headers, disconnectGraceMs, streamType) => {
    expect(classOf(headers as Record<string, string>)).toEqual({
      options: { ...defaults, disconnectGraceMs },
      streamType,
    });
  });

  test("a value that is none is refused", () => {
    expect(() => classOf({ "keyturn-on-disconnect": "maybe" })).toThrow(/continue or cancel/);
  });
});
