import { expect, test } from "vitest";
import { titleOf } from "./title.js";

test.each([
  ["", ""],
  [" \n --- \n# Fix the   build\nplease", "Fix the build"],
  ["short", "short"],
  [`${"word ".repeat(30)}`, `${"word ".repeat(11)}word…`],
  ["x".repeat(100), `${"x".repeat(60)}…`],
  ["👩‍💻".repeat(3), ""],
  ["日本語のタイトル", "日本語のタイトル"],
])("%j", (message, title) => {
  expect(titleOf(message)).toBe(title);
});
