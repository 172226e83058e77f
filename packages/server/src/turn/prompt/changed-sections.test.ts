import { expect, test } from "vitest";
import { changedSections } from "./changed-sections.js";
import { readContext } from "./read-context.js";
import { renderUserMessage } from "./render-user-message.js";
import type { Section } from "./section.js";
import { nothingSelected } from "./selected-facts.js";
import { renderSystem, systemSections } from "./system-sections.js";
import { sampleContext } from "./testing.js";

const sectionsOf = (changes: Parameters<typeof sampleContext>[0], toolNames = ["Read"]) =>
  systemSections({ context: readContext(sampleContext(changes)), toolNames, modelName: "m" });
const ruleA = { rules: [{ fullPath: "/r.mdc", content: "A" }] };
const ruleB = { rules: [{ fullPath: "/r.mdc", content: "B" }] };

/** All texts the model has been told so far, as a caller keeps them. */
const told = (before: string, changed: readonly Section[]) =>
  [before, ...renderUserMessage({ ...emptyMessage, changedSections: changed })].join("\n\n");
const emptyMessage = {
  text: "Go on.",
  selected: nothingSelected,
  mode: "agent" as const,
  context: null,
  history: [],
  first: false,
  changedSections: [],
  date: "",
  imageNotes: [],
};

test("nothing changed", () => {
  const sections = sectionsOf({});
  expect(changedSections(renderSystem(sections), sections)).toEqual([]);
});

test("other tools and a changed working tree are no change", () => {
  const system = renderSystem(sectionsOf({}));
  expect(changedSections(system, sectionsOf({ gitRepos: [] }, ["Read", "Edit", "Shell"]))).toEqual([]);
});

test("changed rules are returned, and only they", () => {
  const now = sectionsOf(ruleB);
  const changed = changedSections(renderSystem(sectionsOf(ruleA)), now);
  expect(changed).toEqual(now.filter((section) => section.name === "rules"));
});

test("a change is told once, and a change back is told again", () => {
  const system = renderSystem(sectionsOf(ruleA));
  const first = told(system, changedSections(system, sectionsOf(ruleB)));
  expect(changedSections(first, sectionsOf(ruleB))).toEqual([]);
  expect(changedSections(first, sectionsOf(ruleA)).map((section) => section.name)).toEqual(["rules"]);
});

test("a section that is gone is taken back once", () => {
  const system = renderSystem(sectionsOf({}));
  const bare = sectionsOf({ rules: [], nonFileRules: [] });
  const gone = changedSections(system, bare);
  expect(gone.map((section) => section.name)).toEqual(["rules", "project_instructions"]);
  const after = told(system, gone);
  expect(changedSections(after, bare)).toEqual([]);
  expect(changedSections(after, sectionsOf({})).map(({ name }) => name)).toEqual(["rules", "project_instructions"]);
});

test("a client that tells nothing takes nothing back", () => {
  const system = renderSystem(sectionsOf(ruleA));
  expect(changedSections(system, systemSections({ context: null, toolNames: [], modelName: "m" }))).toEqual([]);
});
