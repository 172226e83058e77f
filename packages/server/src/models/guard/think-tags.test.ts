import fc from "fast-check";
import { expect, test } from "vitest";
import { type ThinkPiece, ThinkTags } from "./think-tags.js";

function read(deltas: readonly string[], implicitOpen = false): Record<ThinkPiece["kind"], string> {
  const tags = new ThinkTags(implicitOpen);
  const sorted = { reasoning: "", text: "" };
  for (const piece of [...deltas.flatMap((delta) => tags.push(delta)), ...tags.end()]) sorted[piece.kind] += piece.text;
  return sorted;
}

test.each([
  [
    ["<th", "ink>a > b", "</thi", "nk>answer with <think>literal</think>"],
    false,
    "a > b",
    "answer with <think>literal</think>",
  ],
  [["plan</think>ok"], true, "plan", "ok"],
  [["<think>", "plan</think>ok"], true, "plan", "ok"],
  [["<think>abc"], false, "abc", ""],
  [["\n<think>\nabc</think>\n\nok\n"], false, "\nabc", "ok\n"],
  [["no ", "tags <think>here</think>"], false, "", "no tags <think>here</think>"],
  [["<thx"], false, "", "<thx"],
  [["<th"], false, "", "<th"],
  [["<think>a</thin"], false, "a</thin", ""],
  [["</think>orphan"], false, "", "</think>orphan"],
])("%j (implicit: %s)", (deltas, implicitOpen, reasoning, text) => {
  expect(read(deltas, implicitOpen)).toEqual({ reasoning, text });
});

test("any cutting gives the same result (I-89)", () => {
  const piece = fc.constantFrom("<think>", "</think>", "<", "think", ">", "a", " ", "\n", "</");
  fc.assert(
    fc.property(fc.array(piece), fc.boolean(), (pieces, implicitOpen) => {
      const whole = read([pieces.join("")], implicitOpen);
      expect(read(pieces, implicitOpen)).toEqual(whole);
      expect(read([...pieces.join("")], implicitOpen)).toEqual(whole);
    }),
  );
});
