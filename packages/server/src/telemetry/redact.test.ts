import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedaction } from "./redact.js";

describe("createRedaction", () => {
  it("knows the common shapes of keys", () => {
    const redact = createRedaction([]);
    const cases = {
      "Authorization: Bearer abc.def-ghi123": "Authorization: Bearer [redacted]",
      '{"x-goog-api-key":"AIzaSyA"}': '{"x-goog-api-key":"[redacted]"}',
      [JSON.stringify(JSON.stringify({ "x-api-key": "abc", url: "http://h?key=abc" }))]: JSON.stringify(
        JSON.stringify({ "x-api-key": "[redacted]", url: "http://h?key=[redacted]" }),
      ),
      "x-api-key: abc": "x-api-key: [redacted]",
      "https://h/v1beta/models?key=abc123&alt=sse": "https://h/v1beta/models?key=[redacted]&alt=sse",
      "key sk-proj-abcdefghijklmn was refused": "key [redacted] was refused",
      "key kt_abcdefghijklmnopqrst": "key [redacted]",
      "postgres://me:hunter2@host/db": "postgres://me:[redacted]@host/db",
      "nothing to see: task-runner, sketch, tokens=12": "nothing to see: task-runner, sketch, tokens=12",
    };
    for (const [text, expected] of Object.entries(cases)) expect(redact(text)).toBe(expected);
  });

  it("finds a secret in every form it takes", () => {
    const printable = fc.string({ minLength: 8, maxLength: 60, unit: fc.constantFrom(...'abcXYZ019-_.~+/=%&$ é"\\') });
    fc.assert(
      fc.property(printable, fc.string({ maxLength: 7 }), fc.string({ maxLength: 7 }), (core, before, after) => {
        const secret = `s3${core}c7`;
        const redact = createRedaction([secret]);
        const wrapped = Buffer.from(before + secret + after);
        expect(redact(`${before}${secret}${after}`)).not.toContain(secret);
        expect(redact(JSON.stringify({ x: secret }))).not.toContain(JSON.stringify(secret).slice(1, -1));
        expect(redact(`?q=${encodeURIComponent(secret)}`)).not.toContain(encodeURIComponent(secret));
        for (const encoding of ["base64", "base64url"] as const) {
          const encoded = wrapped.toString(encoding);
          const clean = redact(encoded);
          expect(clean).not.toBe(encoded);
          // What is left at both ends decodes to at most a byte or two of the secret.
          const rest = clean.split("[redacted]").map((part) => Buffer.from(part, encoding).toString("latin1"));
          expect(rest.join("|")).not.toContain(secret.slice(0, 4));
        }
      }),
    );
  });

  it("leaves words alone that are too short to be secrets", () => {
    expect(createRedaction(["", "the"])("the text")).toBe("the text");
  });
});
