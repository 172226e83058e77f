import fc from "fast-check";
import { expect, test } from "vitest";
import { type SseEvent, SseFramer } from "./sse-framer.js";

function frame(chunks: readonly Uint8Array[]): SseEvent[] {
  const framer = new SseFramer();
  return [...chunks.flatMap((chunk) => framer.push(chunk)), ...framer.end()];
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const points = [...new Set(at.map((point) => point % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...points].map((point, index) => bytes.subarray(point, points[index] ?? bytes.length));
}

const line = fc.oneof(
  fc.string({ unit: "binary" }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
  fc.constantFrom(": comment", "event: ping", "data:", "data", "retry: 10", "id: 1", "", "", "data: 你好🌍"),
);

test("any chunking gives the same events (I-80)", () => {
  fc.assert(
    fc.property(
      fc.array(line),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.array(fc.nat(4_000)),
      (lines, separator, points) => {
        const bytes = new TextEncoder().encode(lines.join(separator));
        const single = [...bytes].map((byte) => Uint8Array.of(byte));
        const whole = frame([bytes]);
        expect(frame(cut(bytes, points))).toEqual(whole);
        expect(frame(single)).toEqual(whole);
      },
    ),
  );
});

test("line ends of every kind give the same events", () => {
  const lines = ["event: a", "data: 1", "data: 2", "", ": x", "data: 3", "", ""];
  const expected = [{ event: "a", data: "1\n2" }, { data: "3" }];
  for (const separator of ["\n", "\r\n", "\r"])
    expect(frame([new TextEncoder().encode(lines.join(separator))])).toEqual(expected);
});

test("a last event without its blank line counts, a byte order mark does not", () => {
  expect(frame([new TextEncoder().encode("\uFEFFdata: a\n\ndata: b")])).toEqual([{ data: "a" }, { data: "b" }]);
});

test("a line without an end is bounded", () => {
  const framer = new SseFramer(10);
  framer.push(new TextEncoder().encode("data: 1"));
  expect(() => framer.push(new TextEncoder().encode("23456"))).toThrow(RangeError);
});
