import { describe, expect, test } from "vitest";
import { createGuard, type GuardedRequest, type GuardRules } from "./guard.js";

const identity = { keyId: "key-1", name: "one" };
const good = "Bearer kt_good";

function guardWith(rules: Partial<GuardRules> = {}) {
  return createGuard({
    bindHost: "127.0.0.1",
    allowedHosts: ["Keyturn.Example"],
    allowedOrigins: ["https://App.example/"],
    identify: (bearer) => (bearer === "kt_good" ? identity : undefined),
    isOpen: (path) => path === "/healthz",
    ...rules,
  });
}

const guard = guardWith();

function decide(headers: Record<string, string>, more: Partial<GuardedRequest> = {}) {
  const all = { host: "127.0.0.1:8484", authorization: good, ...headers };
  const verdict = guard({ method: "POST", url: "/agent.v1.AgentService/RunSSE", headers: all, ...more });
  return verdict.kind === "refused" ? verdict.status : verdict.kind;
}

describe("guard (I-140 to I-142)", () => {
  test.each([
    ["localhost", "pass"],
    ["LOCALHOST:1", "pass"],
    ["localhost.", "pass"],
    ["127.0.0.1:8484", "pass"],
    ["[::1]:8484", "pass"],
    ["[::1]", "pass"],
    ["keyturn.example:443", "pass"],
    ["attacker.poc:8484", 421],
    ["localhost.attacker.poc", 421],
    ["127.0.0.1.attacker.poc", 421],
    ["192.168.1.5:8484", 421],
    ["localhost:8484@attacker.poc", 421],
    ["localhost/..", 421],
    ["::1", 421],
    ["", 421],
  ])("Host %s: %s", (host, expected) => {
    expect(decide({ host })).toBe(expected);
  });

  test("HTTP/2 names the host in :authority", () => {
    expect(decide({ ":authority": "attacker.poc", host: "localhost" })).toBe(421);
    expect(decide({ ":authority": "localhost:8484" })).toBe("pass");
  });

  test("listening on all addresses takes every address, and still no foreign name", () => {
    for (const bindHost of ["0.0.0.0", "::"]) {
      const open = guardWith({ bindHost });
      const statusOf = (host: string) =>
        open({ method: "GET", url: "/v1/me", headers: { host, authorization: good } }).kind;
      expect([statusOf("192.168.1.5:8484"), statusOf("[fd00::1]:8484"), statusOf("attacker.poc")]).toEqual([
        "pass",
        "pass",
        "refused",
      ]);
    }
  });

  test.each([
    [{ origin: "http://127.0.0.1:8484" }, "pass"],
    [{ origin: "https://127.0.0.1:8484" }, "pass"],
    [{ origin: "https://app.example" }, "pass"],
    [{ origin: "https://app.example", "sec-fetch-site": "cross-site" }, "pass"],
    [{ "sec-fetch-site": "same-origin" }, "pass"],
    [{ "sec-fetch-site": "none" }, "pass"],
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://127.0.0.1:3000" }, 403],
    [{ origin: "http://localhost:8484" }, 403],
    [{ origin: "" }, 403],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ origin: "http://127.0.0.1:8484", "sec-fetch-site": "cross-site" }, 403],
  ])("a page with %o: %s", (headers, expected) => {
    expect(decide(headers as Record<string, string>)).toBe(expected);
  });

  test.each([
    ["Bearer kt_good", "pass"],
    ["bearer  kt_good ", "pass"],
    ["Bearer kt_bad", 401],
    ["Bearer", 401],
    ["Basic kt_good", 401],
    ["kt_good", 401],
    ["", 401],
  ])("Authorization %s: %s", (authorization, expected) => {
    expect(decide({ authorization })).toBe(expected);
  });

  test("without a key the answer is 401, whatever page it comes from", () => {
    expect(decide({ authorization: "", origin: "https://evil.example" })).toBe(401);
  });

  test("open paths need no key, and keep out foreign names and pages", () => {
    const open = { method: "GET", url: "/healthz?x=1" };
    expect(decide({ authorization: "" }, open)).toBe("pass");
    expect(decide({ authorization: "", host: "attacker.poc" }, open)).toBe(421);
    expect(decide({ authorization: "", origin: "https://evil.example" }, open)).toBe(403);
    expect(decide({ authorization: "" }, { method: "GET", url: "/metrics" })).toBe(401);
  });

  test("a preflight is refused, but for allow-listed origins", () => {
    expect(decide({ authorization: "", origin: "https://evil.example" }, { method: "OPTIONS" })).toBe(403);
    expect(decide({ authorization: "" }, { method: "OPTIONS" })).toBe(403);
    expect(decide({ authorization: "", origin: "https://app.example" }, { method: "OPTIONS" })).toBe("preflight");
  });

  test.each(["", "*", "//evil.example/x", "http://evil.example/", "/%zz", "/a/../b", "/a/%2e%2e/b", "/%00", "/a%5cb"])(
    "the URL %j is malformed",
    (url) => {
      expect(decide({}, { url })).toBe(400);
    },
  );
});
