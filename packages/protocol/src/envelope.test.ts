import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Envelope,
  EnvelopeReader,
  encodeEnvelope,
  endStreamEnvelope,
  endStreamFlag,
  MalformedMessage,
} from "./codec.js";

const envelopes = fc.array(
  fc.record({ flags: fc.nat({ max: 255 }), body: fc.uint8Array({ maxLength: 60 }) }, { noNullPrototype: true }),
  { maxLength: 8 },
);

function join(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function json(frame: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(frame.subarray(5)));
}

describe("encodeEnvelope", () => {
  it("writes the flags, the length in network order and the body", () => {
    const frame = encodeEnvelope(1, new Uint8Array(258));
    expect([...frame.subarray(0, 5)]).toEqual([1, 0, 0, 1, 2]);
    expect(frame.length).toBe(263);
  });
});

describe("endStreamEnvelope", () => {
  it("is an empty object after success", () => {
    expect(endStreamEnvelope()).toEqual(Uint8Array.of(endStreamFlag, 0, 0, 0, 2, 0x7b, 0x7d));
  });

  it("carries code, message and details as unpadded base64", () => {
    const value = Uint8Array.of(8, 1, 251, 255);
    const frame = endStreamEnvelope({
      code: "unavailable",
      message: "the provider is busy",
      details: [{ type: "aiserver.v1.ErrorDetails", value }],
    });
    expect(json(frame)).toEqual({
      error: {
        code: "unavailable",
        message: "the provider is busy",
        details: [{ type: "aiserver.v1.ErrorDetails", value: "CAH7/w" }],
      },
    });
  });

  it("leaves details out when there are none", () => {
    expect(json(endStreamEnvelope({ code: "canceled", message: "" }))).toEqual({
      error: { code: "canceled", message: "" },
    });
  });
});

describe("EnvelopeReader", () => {
  it("gives the same envelopes however the bytes are cut", () => {
    fc.assert(
      fc.property(envelopes, fc.infiniteStream(fc.integer({ min: 1, max: 40 })), (sent, sizes) => {
        let rest = join(sent.map(({ flags, body }) => encodeEnvelope(flags, body)));
        const reader = new EnvelopeReader(60);
        const received: Envelope[] = [];
        while (rest.length > 0) {
          const size = sizes.next().value as number;
          const chunk = rest.slice(0, size);
          rest = rest.subarray(size);
          received.push(...reader.push(chunk));
          chunk.fill(0xee);
        }
        reader.finish();
        expect(received).toEqual(sent);
      }),
    );
  });

  it("takes a body of exactly the limit and refuses one byte more from its header alone", () => {
    expect(new EnvelopeReader(3).push(encodeEnvelope(0, new Uint8Array(3)))).toHaveLength(1);
    const header = encodeEnvelope(0, new Uint8Array(4)).subarray(0, 5);
    expect(() => new EnvelopeReader(3).push(header)).toThrowError(
      new MalformedMessage("envelope", "an envelope of 4 bytes exceeds the limit of 3"),
    );
  });

  it("reads a length beyond 2^31 as what it is", () => {
    expect(() => new EnvelopeReader(1 << 20).push(Uint8Array.of(0, 255, 255, 255, 255))).toThrow(/4294967295 bytes/);
  });

  it("tells at the end whether an envelope was cut", () => {
    const frame = encodeEnvelope(0, Uint8Array.of(1, 2, 3));
    for (const cut of [1, 4, 5, 7]) {
      const reader = new EnvelopeReader(10);
      expect(reader.push(frame.subarray(0, cut))).toEqual([]);
      expect(() => reader.finish()).toThrow(/ended inside an envelope/);
    }
    const reader = new EnvelopeReader(10);
    reader.finish();
    reader.push(frame);
    reader.finish();
  });
});
