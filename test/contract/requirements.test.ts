import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requirements } from "../requirements.js";

const root = new URL("../..", import.meta.url).pathname;
const ids = new Set(requirements.map((requirement) => requirement.id));
const proofs = collectProofs();

describe("each promised behaviour is proven by a test that names it", () => {
  for (const { id, says, pending } of requirements) {
    const title = `${id}: ${says}${pending ? ` [waits for: ${pending}]` : ""}`;
    // A row that is not built yet is an expected failure: it turns red as soon as somebody proves it.
    (pending ? test.fails : test)(title, () => {
      expect(proofs.get(id) ?? []).not.toEqual([]);
    });
  }
});

test("no requirement is listed twice", () => {
  expect(requirements.length).toBe(ids.size);
});

/** Titles of tests that name an id in round brackets, by id. */
function collectProofs(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of testFiles(root)) {
    const source = readFileSync(file, "utf8");
    for (const [, title] of source.matchAll(/\b(?:test|it|describe)(?:\.\w+)*(?:\([^)"'`]*\))?\(\s*(["'`][^\n]*)/g)) {
      for (const [, group] of (title ?? "").matchAll(/\(([^()]*)\)/g)) {
        for (const word of (group ?? "").split(/[\s,;]+/)) {
          if (ids.has(word)) found.set(word, [...(found.get(word) ?? []), `${file}: ${title}`]);
        }
      }
    }
  }
  return found;
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (["node_modules", "dist", "gen", "coverage", ".git"].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
