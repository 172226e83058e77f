import fc from "fast-check";
import { expect, test } from "vitest";
import { cutText, fitTexts, leftOutNotice, lineList, oneLine } from "./cut-text.js";

const text = fc.string({ unit: "grapheme", maxLength: 400 });

test("a text that fits stays as it is; a cut one says so and never ends inside a character", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 300 }), (whole, limit) => {
      const cut = cutText(whole, limit);
      expect(cut.length).toBeLessThanOrEqual(Math.max(limit, 0));
      expect(cut.isWellFormed()).toBe(true);
      if (whole.length <= limit) expect(cut).toBe(whole);
      else if (limit > 80) expect(cut).toContain(` of ${whole.length} characters are shown]`);
    }),
  );
  expect(cutText("😀".repeat(100), 150)).toBe(`${"😀".repeat(50)}\n[cut: the first 100 of 200 characters are shown]`);
});

test("a list of texts keeps its bounds, in order, and counts what it leaves out", () => {
  const limits = { each: 300, total: 900, count: 6 };
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
      const items = texts.map((one, index) => ({ name: `item ${index}`, text: one }));
      const { kept, leftOut } = fitTexts(items, limits, (item) => item.name);
      expect(kept.length).toBeLessThanOrEqual(limits.count);
      expect(kept.every((item) => item.text.length <= limits.each && item.text.isWellFormed())).toBe(true);
      expect(kept.reduce((sum, item) => sum + item.text.length, 0)).toBeLessThanOrEqual(limits.total);
      expect(kept.length + leftOut.count).toBe(items.length);
      const order = items.map((item) => item.name);
      expect(kept.map((item) => item.name)).toEqual(order.filter((name) => kept.some((item) => item.name === name)));
    }),
  );
});

test("what accompanies the texts is bounded too", () => {
  const items = Array.from({ length: 10 }, () => ({ name: "n".repeat(100), text: "" }));
  const { kept, leftOut } = fitTexts(items, { each: 10, total: 500, count: 10 }, (item) => item.name);
  expect([kept.length, leftOut.count]).toEqual([4, 6]);
});

test("left-out things are named", () => {
  expect(leftOutNotice({ count: 0, names: [] }, "rules")).toBe("");
  expect(leftOutNotice({ count: 3, names: ["a", "b"] }, "rules")).toBe("[left out for size: 3 rules: a, b and 1 more]");
});

test("names are one line of bounded length", () => {
  expect(oneLine("a\r\n  b\nc")).toBe("a b c");
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 50 }), (whole, limit) => {
      const line = oneLine(whole, limit);
      expect(line.length).toBeLessThanOrEqual(limit);
      expect(line.isWellFormed()).toBe(true);
      expect(line).not.toMatch(/[\r\n]/);
    }),
  );
  expect(lineList(["", "a", "b\nc"])).toEqual(["a", "b c"]);
  expect(lineList(Array.from({ length: 400 }, (_, index) => `${index}`)).length).toBe(50);
});
