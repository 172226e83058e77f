import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scanJson } from "./json-scan.js";
import { parseArguments } from "./parse-arguments.js";

describe("argument text (A.4)", () => {
  test.each(["", "  \n\t", "null", " null "])("I-97: %j is no arguments", (raw) => {
    expect(parseArguments(raw)).toEqual({ ok: true, args: {} });
  });

  test("an object is read as it is, NUL escapes and all", () => {
    expect(parseArguments('{"a":[1,{"b":"x\\u0000é😀"}]}')).toEqual({ ok: true, args: { a: [1, { b: "x\0é😀" }] } });
  });

  test.each([
    ["I-98 cut off inside a string", '{"path":"a.ts","content":"x', "end early at position 27"],
    ["I-98 cut off after a colon", '{"path":', "end early at position 8"],
    ["I-95 two objects", '{"path":"a.md"}{"path":"b.md"}', "a second one begins at position 15"],
    ["trailing words", '{"a":1} done', "a second one begins at position 8"],
    ["a trailing comma", '{"a":1,}', "at position 7"],
    ["single quotes", "{'a':1}", "at position 1"],
    ["a bare Windows path", '{"path":"C:\\Users\\x"}', "a backslash begins no valid escape"],
    ["a raw newline in a string", '{"a":"x\ny"}', "a control character stands inside a string"],
    ["a raw NUL in a string", '{"a":"x\0"}', "a control character stands inside a string"],
    ["half a surrogate pair", '{"a":{"b":"\\ud83d"}}', '"a".b holds half of a surrogate pair'],
    ["half a pair in a name", '{"\\ude00":1}', "half of a surrogate pair"],
    ["an array", "[1]", "must be one JSON object, not an array"],
    ["a string", '"{}"', "must be one JSON object, not a string"],
    ["a number", "17", "must be one JSON object, not a number"],
    ["words", "path a.ts", "at position 0"],
    ["endless nesting", `{"a":${"[".repeat(100_000)}`, "more than 100 levels deep"],
  ])("%s is a problem that names the place", (_, raw, words) => {
    expect(parseArguments(raw)).toEqual({ ok: false, problem: expect.stringContaining(words) });
  });

  test("never throws, and is an object or a problem", () => {
    const junk = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0019eE+-.truefalsn \n\ud83d') });
    fc.assert(
      fc.property(fc.oneof(junk, fc.string({ unit: "binary" }), fc.json()), (raw) => {
        const parsed = parseArguments(raw);
        if (parsed.ok) expect(Array.isArray(parsed.args)).toBe(false);
        else expect(parsed.problem.length).toBeGreaterThan(0);
      }),
      { numRuns: 2_000 },
    );
  });

  test("the scanner agrees with the engine's parser, and its positions are where a cut makes no difference", () => {
    const junk = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0a19e+-.truefalsn ') });
    const nearly = fc.json().chain((text) => fc.nat(text.length).map((at) => text.slice(0, at)));
    fc.assert(
      fc.property(fc.oneof(junk, nearly, fc.json()), (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect(scanJson(text, 1_000) === null).toBe(valid);
      }),
      { numRuns: 5_000 },
    );
  });
});
