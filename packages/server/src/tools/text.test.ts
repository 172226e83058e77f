import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { terminalText } from "./terminal-text.js";
import { countLines, fitLines, fitMiddle, headOf, plural, tailOf, utf8Length } from "./text.js";

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text).length;
const anyText = fc.string({
  unit: fc.constantFrom("a", "é", "語", "😀", "\n", "\r", "\ud83d", "\ude00"),
  maxLength: 60,
});
const wellFormed = fc.string({ unit: "binary", maxLength: 60 });

describe("cuts (I-59)", () => {
  test("utf8Length counts what an encoder writes", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(utf8Length(text)).toBe(bytesOf(text));
      }),
    );
  });

  test("headOf and tailOf never split a character and keep as much as fits", () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(80), (text, limit) => {
        const head = headOf(text, limit);
        const tail = tailOf(text, limit);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        for (const part of [head, tail]) {
          expect(bytesOf(part)).toBeLessThanOrEqual(limit);
          expect(new TextDecoder("utf-8", { fatal: true }).decode(encoder.encode(part))).toBe(part);
        }
        const [next] = text.slice(head.length);
        if (next !== undefined) expect(bytesOf(head) + bytesOf(next)).toBeGreaterThan(limit);
      }),
    );
  });

  test("fitMiddle keeps head and tail within the bound and says how much is shown", () => {
    fc.assert(
      fc.property(wellFormed, fc.integer({ min: 8, max: 60 }), (text, limit) => {
        const { text: fitted, cut } = fitMiddle(text, limit, "Shell");
        if (!cut) {
          expect(fitted).toBe(text);
          return;
        }
        const [, shown, total] = /showing (\d+) of (\d+) bytes/.exec(fitted) ?? [];
        expect(Number(shown)).toBeLessThanOrEqual(limit);
        expect(Number(total)).toBe(bytesOf(text));
        expect(new TextDecoder("utf-8", { fatal: true }).decode(encoder.encode(fitted))).toBe(fitted);
      }),
    );
  });

  test("a line that alone is too long is cut, not dropped", () => {
    expect(fitLines(["aaaa", "b"], 3)).toEqual({ lines: ["aaa"], bytes: 3 });
    expect(fitLines(["a", "b", "c"], 4)).toEqual({ lines: ["a", "b"], bytes: 4 });
  });

  test("lines and plurals are counted as a person would", () => {
    expect(["", "a", "a\n", "a\nb", "\n\n"].map(countLines)).toEqual([0, 1, 1, 2, 2]);
    expect([plural(1, "file"), plural(2, "file"), plural(2, "match"), plural(0, "entry")]).toEqual([
      "1 file",
      "2 files",
      "2 matches",
      "0 entries",
    ]);
  });
});

describe("terminal output", () => {
  test.each([
    ["\u001b[1;31mred\u001b[0m", "red"],
    ["\u001b]0;title\u0007text", "text"],
    ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001b(Bplain\u001b=", "plain"],
    ["10%\r50%\r100%\ndone\r\n", "100%\ndone\n"],
    ["Downloading\r\u001b[KDone", "Done"],
    ["abc\b\bX", "aX"],
    ["bell\u0007 nul\u0000 tab\t", "bell nul tab\t"],
    ["broken \u001b[12", "broken 12"],
  ])("%j becomes %j", (raw, text) => {
    expect(terminalText(raw)).toBe(text);
  });

  test("cleaning leaves no control characters and stays linear on hostile input", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("\u001b", "[", "]", "1", ";", "m", "\r", "\b", "\n", "a") }),
        (raw) => {
          expect(terminalText(raw)).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
        },
      ),
    );
    expect(terminalText("\u001b]".repeat(100_000)).length).toBe(0);
  });
});
