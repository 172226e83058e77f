import fc from "fast-check";
import { expect, test } from "vitest";
import type { HistoryMessage } from "../../run/history.js";
import { readContext } from "./read-context.js";
import { renderNote } from "./render-note.js";
import { renderUserMessage, type UserMessageInput } from "./render-user-message.js";
import { nothingSelected } from "./selected-facts.js";
import { sampleContext } from "./testing.js";

const context = readContext(sampleContext());
const bare: UserMessageInput = {
  text: "Oil the mill.",
  selected: nothingSelected,
  mode: "agent",
  context: null,
  history: [],
  first: false,
  changedSections: [],
  date: "",
  imageNotes: [],
};

test("a later message is the user's words alone", () => {
  expect(renderUserMessage(bare)).toEqual(["<user_message>\nOil the mill.\n</user_message>"]);
});

test("a first message with everything, in order", () => {
  const parts = renderUserMessage({
    ...bare,
    mode: "plan",
    previousMode: "agent",
    context,
    first: true,
    date: "2026-12-01 (Tuesday)",
    changedSections: [{ name: "rules", text: "<rules>\nNew.\n</rules>" }],
    selected: {
      entries: [
        { kind: "file", label: '/w/"a".ts', text: "a" },
        { kind: "subagent", label: "reviewer", text: "" },
      ],
      leftOut: { count: 1, names: ["file /w/b.ts"] },
    },
    imageNotes: ["An image could not be loaded."],
  });
  expect(parts.join("\n---\n")).toMatchInlineSnapshot(`
    "<context>
    Date: 2026-12-01 (Tuesday)

    Git repository /home/ada/engine
    Branch: main
    Remote: https://git.example/ada/engine.git
    Status:
    ## main
     M src/mill.ts

    <layout path="/home/ada/engine">
    /home/ada/engine/
      Makefile
      src/ (1 file; not listed)
        mill.ts
    </layout>

    Notes shared between conversations:
    - gears.md

    <file path="/home/ada/engine/src/mill.ts">
    export const columns = 50;

    </file>
    </context>
    ---
    <updated name="rules">
    <rules>
    New.
    </rules>
    </updated>
    ---
    <mode>
    The user changed the mode from agent to plan.
    You are in plan mode: work out how the task should be done, and do not do it yet. You may read and search, and ask about what only the user can decide. Do not change files, and do not run anything that changes something. When you know enough, hand in the plan with the tool for plans if you have it, otherwise as your answer: the goal, the steps with the files they touch, how each is checked, and what is uncertain.
    </mode>
    ---
    <selected kind="file" label="/w/&quot;a&quot;.ts">
    a
    </selected>
    ---
    <selected kind="subagent" label="reviewer">
    (no text)
    </selected>
    ---
    <selected kind="notice">
    [left out for size: 1 attachments: file /w/b.ts]
    </selected>
    ---
    <images>
    An image could not be loaded.
    </images>
    ---
    <user_message>
    Oil the mill.
    </user_message>"
  `);
});

test("trees and notes are told on the first message only, git and files whenever the context is given", () => {
  const [later] = renderUserMessage({ ...bare, context });
  expect(later).toContain("Branch: main");
  expect(later).toContain('<file path="/home/ada/engine/src/mill.ts">');
  expect(later).not.toContain("<layout");
  expect(later).not.toContain("gears.md");
  expect(renderUserMessage({ ...bare, date: "2026-12-02 (Wednesday)" })[0]).toBe(
    "<context>\nDate: 2026-12-02 (Wednesday)\n</context>",
  );
});

test("modes that restrict are said every time, agent mode only when entered", () => {
  const modes = ["ask", "plan", "debug"] as const;
  for (const mode of modes) {
    expect(renderUserMessage({ ...bare, mode, previousMode: mode })[0]).toMatch(
      new RegExp(`^<mode>\nYou are in ${mode} mode: `),
    );
  }
  expect(renderUserMessage({ ...bare, previousMode: "agent" })).toHaveLength(1);
  expect(renderUserMessage({ ...bare, previousMode: "plan" })[0]).toBe(
    "<mode>\nThe user changed the mode from plan to agent.\nYou may change files and run commands for the task.\n</mode>",
  );
});

test("debug mode says where output goes", () => {
  const debugModeConfig = { logPath: "/l.log", serverEndpoint: "http://127.0.0.1:9", sessionId: "s1" };
  const debugging = readContext(sampleContext({ debugModeConfig }));
  const part = renderUserMessage({ ...bare, mode: "debug", context: debugging })[1];
  expect(part).toContain("Log file to which added output should go: /l.log\n");
  expect(part).toContain("Session id to put into each log line: s1\n");
});

test("the user's text survives byte for byte, in the last part alone", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "</user_message>", "<user_message>\n", "\r\n\t ", "\ud800", "$& $1 `x`"),
  );
  fc.assert(
    fc.property(text, fc.boolean(), (words, first) => {
      const last = renderUserMessage({ ...bare, text: words, context, first }).at(-1) ?? "";
      expect(last.slice("<user_message>\n".length, -"\n</user_message>".length)).toBe(words);
      expect(last.startsWith("<user_message>\n") && last.endsWith("\n</user_message>")).toBe(true);
    }),
  );
});

test("no other part can pass for the user's words or choice", () => {
  const marks = fc.constantFrom(
    "<user_message>",
    "</user_message>",
    "</selected>",
    '<selected kind="command">',
    "<updated>",
  );
  const hostile = fc.array(fc.oneof(marks, fc.string()), { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(hostile, hostile, (label, text) => {
      const parts = renderUserMessage({
        ...bare,
        selected: { entries: [{ kind: "file", label, text }], leftOut: { count: 0, names: [label] } },
        imageNotes: [text],
        context: readContext(sampleContext({ fileContents: { [`/${label}`]: text } })),
      });
      const others = parts.slice(0, -1).map((part) => part.replace(/^<selected /, "").replace(/<\/selected>$/, ""));
      for (const part of others) expect(part).not.toMatch(/<\/?(?:user_message|selected|updated)\b/);
    }),
  );
});

test("file contents are otherwise left alone", () => {
  const text = "<Context.Provider><rules>&amp;</rules></Context.Provider>";
  const [part] = renderUserMessage({
    ...bare,
    selected: { ...nothingSelected, entries: [{ kind: "file", label: "a", text }] },
  });
  expect(part).toBe(`<selected kind="file" label="a">\n${text}\n</selected>`);
});

test("notes are marked as not the user's", () => {
  for (const note of ["interrupted", "empty"] as const) expect(renderNote(note)).toMatch(/^<note>\n.+\n<\/note>$/);
  expect(renderNote("interrupted")).toContain("Continue exactly where it stops");
});

test("what the last context block told is not told again; a changed one is", () => {
  const render = (date: string, history: readonly HistoryMessage[]) =>
    renderUserMessage({ ...bare, date, context, history });
  const before = render("2026-12-01", []);
  const told: HistoryMessage[] = [{ role: "user", content: before.map((text) => ({ type: "text", text })) }];
  expect(before[0]).toContain("<context>");
  expect(render("2026-12-01", told).some((part) => part.startsWith("<context>"))).toBe(false);
  expect(render("2026-12-02", told)[0]).toContain("Date: 2026-12-02");
});
