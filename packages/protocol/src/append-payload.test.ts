import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { appendPayload, encodeHex, MalformedMessage } from "./codec.js";

const none = new Uint8Array(0);
const bytes = Uint8Array.of(0x00, 0x0a, 0xff, 0xb7);

function refusal(request: { data: string; dataBinary: Uint8Array }): { field: string; message: string } {
  try {
    appendPayload(request);
  } catch (error) {
    if (MalformedMessage.isInstance(error)) return { field: error.field, message: error.message };
    throw error;
  }
  throw new Error("it was accepted");
}

describe("appendPayload", () => {
  it("reads hex in either case", () => {
    expect(appendPayload({ data: "000affb7", dataBinary: none })).toEqual(bytes);
    expect(appendPayload({ data: "000AfFB7", dataBinary: none })).toEqual(bytes);
  });

  it("reads data_binary", () => {
    expect(appendPayload({ data: "", dataBinary: bytes })).toEqual(bytes);
  });

  it("accepts both when they agree", () => {
    expect(appendPayload({ data: "000affb7", dataBinary: bytes })).toEqual(bytes);
  });

  it("names the field that is wrong", () => {
    expect(refusal({ data: "", dataBinary: none })).toEqual({
      field: "data",
      message: "data and data_binary are both empty",
    });
    expect(refusal({ data: "00a", dataBinary: none })).toEqual({
      field: "data",
      message: "data is not hex: odd number of digits (3)",
    });
    expect(refusal({ data: "00ag", dataBinary: none })).toEqual({
      field: "data",
      message: "data is not hex: bad digit at position 3",
    });
    expect(refusal({ data: "000affb8", dataBinary: bytes })).toMatchObject({ field: "data_binary" });
    expect(refusal({ data: "000aff", dataBinary: bytes })).toMatchObject({ field: "data_binary" });
  });

  it("refuses every character but the 22 digits, those beyond Latin-1 too", () => {
    const digits = new Set("0123456789abcdefABCDEF");
    // U+0130 and U+FF11 have a digit's code, or a digit's form, in their low byte.
    const codes = [...Array(256).keys(), 0x0130, 0xff11, 0x1f600];
    for (const character of codes.map((code) => String.fromCodePoint(code)).filter((text) => !digits.has(text))) {
      expect(refusal({ data: `${character}0`.padEnd(4, "0"), dataBinary: none }).field).toBe("data");
      expect(refusal({ data: `0${character}`.padEnd(4, "0"), dataBinary: none }).field).toBe("data");
    }
  });

  it("gives back any bytes, in either case of the digits", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.boolean(), (payload, upper) => {
        const hex = encodeHex(payload);
        const data = upper ? hex.toUpperCase() : hex;
        expect(appendPayload({ data, dataBinary: none })).toEqual(payload);
        expect(appendPayload({ data, dataBinary: payload })).toEqual(payload);
      }),
    );
  });

  it("decodes 16 MiB of hex", () => {
    const payload = new Uint8Array(8 << 20).map((_, at) => (at * 31) >> 3);
    const data = encodeHex(payload);
    expect(data.length).toBe(16 << 20);
    expect(Buffer.compare(appendPayload({ data, dataBinary: none }), payload)).toBe(0);
  });
});
