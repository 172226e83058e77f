import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { SelectedContextSchema } from "@keyturn/protocol/agent";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../run/ids.js";
import { promptLimits } from "./prompt-limits.js";
import { readSelected } from "./read-selected.js";

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);
const blob = new Uint8Array([0xab, 0x01]);

const read = (init: MessageInitShape<typeof SelectedContextSchema>) =>
  readSelected(create(SelectedContextSchema, init));
const entries = (init: MessageInitShape<typeof SelectedContextSchema>) => read(init).facts.entries;

test("nothing attached", () => {
  expect(readSelected(undefined)).toEqual({ facts: { entries: [], leftOut: { count: 0, names: [] } }, images: [] });
  expect(read({})).toEqual(readSelected(undefined));
});

test("what belongs to the workspace, whole", () => {
  const range = { start: { line: 3, column: 1 }, end: { line: 9, column: 2 } };
  const { facts } = read({
    files: [
      { path: "/w/a.ts", content: "a" },
      { relativePath: "b.ts", content: "" },
    ],
    codeSelections: [{ path: "/w/a.ts", content: "code", range }],
    folders: [
      {
        path: "/w/src",
        directoryTree: {
          absPath: "/w/src",
          childrenFiles: [{ name: "a.ts" }],
          numFiles: 1,
          childrenWereProcessed: true,
        },
      },
    ],
    terminals: [{ title: "zsh", content: "$ make" }],
    terminalSelections: [{ path: "/t/1.txt", content: "error", range: { start: { line: 4 }, end: { line: 4 } } }],
    cursorRules: [{ rule: { fullPath: "/w/r.mdc", content: "Rule." } }],
    cursorCommands: [{ name: "review", content: "Review it." }],
    selectedSkills: [{ fullPath: "/s/SKILL.md", content: "Skill." }],
    selectedSubagents: [{ name: "reviewer" }],
    documentations: [{ docId: "d1", name: "Zod" }],
    selectedDocuments: [
      {
        filename: "n.txt",
        mimeType: "text/plain",
        dataOrBlobId: { case: "data", value: new TextEncoder().encode("Hi") },
      },
      { filename: "p.pdf", path: "/p.pdf", dataOrBlobId: { case: "blobId", value: blob } },
    ],
  });
  expect(facts).toEqual({
    entries: [
      { kind: "command", label: "review", text: "Review it." },
      { kind: "rule", label: "/w/r.mdc", text: "Rule." },
      { kind: "skill", label: "/s/SKILL.md", text: "Skill." },
      { kind: "subagent", label: "reviewer", text: "" },
      { kind: "code", label: "/w/a.ts:3-9", text: "code" },
      { kind: "file", label: "/w/a.ts", text: "a" },
      { kind: "file", label: "b.ts", text: "" },
      { kind: "folder", label: "/w/src", text: "/w/src/\n  a.ts" },
      { kind: "terminal", label: "/t/1.txt:4", text: "error" },
      { kind: "terminal", label: "zsh", text: "$ make" },
      { kind: "document", label: "n.txt", text: "Type: text/plain\nHi" },
      {
        kind: "document",
        label: "p.pdf",
        text: "Path: /p.pdf\n[the client keeps this text as blob ab01; it is not shown here]",
      },
      { kind: "documentation", label: "Zod", text: "" },
    ],
    leftOut: { count: 0, names: [] },
  });
  const json: Json = facts;
  expect(JSON.parse(JSON.stringify(json))).toEqual(facts);
});

test("changes and pull requests", () => {
  expect(
    entries({
      gitDiff: { content: "+a", fullContentLengthCharCount: 90 },
      gitDiffFromBranchToMain: { content: "-b" },
      gitCommits: [{ sha: "abc", message: "Fix", description: "Why", diff: "+c" }],
      gitPrDiffSelections: [{ prUrl: "https://x/1", filePath: "a.ts", startLine: 1, endLine: 2, blobId: blob }],
      selectedPullRequests: [{ number: 7, url: "https://x/7", title: "T", description: "D" }],
      selectedAgenticGitAction: {
        params: {
          case: "commitAndPushParams",
          value: {
            filesToCommitWithStatus: [{ path: "a.ts", status: "M" }, { path: "b.ts" }],
            shouldStageAllChanges: true,
          },
        },
        branchContext: { currentBranch: "topic" },
      },
    }),
  ).toEqual([
    {
      kind: "git-action",
      label: "commit and push",
      text: "should stage all changes: true\nfiles to commit with status: a.ts (M), b.ts\ncurrent branch: topic",
    },
    { kind: "git-diff", label: "uncommitted changes", text: "+a\n[the client sent 2 of 90 characters]" },
    { kind: "git-diff", label: "changes of the branch against the main branch", text: "-b" },
    { kind: "git-commit", label: "abc", text: "Fix\n\nWhy\n\n+c" },
    {
      kind: "pull-request-diff",
      label: "https://x/1 a.ts:1-2",
      text: "[the client keeps this text as blob ab01; it is not shown here]",
    },
    { kind: "pull-request", label: "#7 https://x/7", text: "Title: T\n\nD" },
  ]);
});

test("surroundings", () => {
  const visibleFiles = [{ path: "/w/a.ts", cursorPosition: { line: 3, text: " let x" }, totalLines: 40 }];
  expect(
    entries({
      externalLinks: [{ url: "https://x", pdfContent: "PDF" }],
      uiElements: [{ element: "<b>", xpath: "/b", textContent: "Go", component: "Button" }],
      consoleLogs: [{ message: "boom", level: "error", clientName: "web", stackTrace: { rawStackTrace: "at x" } }],
      selectedBrowsers: [{ browserId: "b1", url: "https://y", pageTitle: "Y" }],
      selectedVideos: [{ filename: "v.mp4" }],
      pastChats: [{ agentId: "agent-1", name: "Gears" }],
      extraContext: ["one"],
      extraContextEntries: [
        { dataOrBlobId: { case: "data", value: "two" } },
        { dataOrBlobId: { case: "blobId", value: blob } },
      ],
      invocationContext: {
        data: { case: "ideState", value: { visibleFiles, recentlyViewedFiles: [{ path: "/w/b.ts" }] } },
      },
      recentAgentsContext: { recentAgents: [{ name: "R", path: "/r", overview: "O" }] },
    }),
  ).toEqual([
    { kind: "link", label: "https://x", text: "PDF" },
    { kind: "page-element", label: "/b", text: "Component: Button\nText: Go\n<b>" },
    { kind: "console", label: "error web", text: "boom\nat x" },
    { kind: "browser", label: "https://y", text: "Title: Y\nBrowser id: b1" },
    { kind: "video", label: "v.mp4", text: "[videos are not shown]" },
    { kind: "past-chat", label: "Gears", text: "Conversation id: agent-1" },
    { kind: "extra", label: "", text: "one" },
    { kind: "extra", label: "", text: "two" },
    { kind: "extra", label: "", text: "[the client keeps this text as blob ab01; it is not shown here]" },
    {
      kind: "editor",
      label: "",
      text: "Open files:\n- /w/a.ts (cursor in line 3: let x; 40 lines)\n\nFiles looked at lately:\n- /w/b.ts",
    },
    { kind: "recent-agent", label: "R", text: "Path: /r\nO" },
  ]);
});

test("threads and pull requests a message was written in", () => {
  const from = (data: NonNullable<MessageInitShape<typeof SelectedContextSchema>["invocationContext"]>["data"]) =>
    entries({ invocationContext: { data } });
  expect(from({ case: "slackThread", value: { thread: "Hi", channelName: "dev", senderName: "Ada" } })).toEqual([
    { kind: "thread", label: "dev", text: "Written by: Ada\n\nHi" },
  ]);
  expect(from({ case: "microsoftTeamsThread", value: { thread: "Hi", channelName: "c", teamName: "t" } })).toEqual([
    { kind: "thread", label: "t / c", text: "Hi" },
  ]);
  expect(from({ case: "githubPr", value: { title: "T", description: "D", ciFailures: "lint" } })).toEqual([
    { kind: "pull-request", label: "T", text: "D\n\nFailed checks:\nlint" },
  ]);
});

test("images come from bytes, blobs or paths (I-52)", () => {
  const { images } = read({
    selectedImages: [
      { mimeType: "image/jpeg", dataOrBlobId: { case: "data", value: png } },
      { mimeType: "image/gif", dataOrBlobId: { case: "blobId", value: blob } },
      { dataOrBlobId: { case: "blobIdWithData", value: { blobId: blob, data: png } }, path: "/i.png" },
      { mimeType: "image/webp", path: "/only.webp" },
      { mimeType: "image/webp", dataOrBlobId: { case: "data", value: new Uint8Array() } },
    ],
  });
  expect(images).toEqual([
    { mediaType: "image/png", bytes: png },
    { mediaType: "image/gif", blobId: "ab01" },
    { mediaType: "image/png", bytes: png, blobId: "ab01", path: "/i.png" },
    { mediaType: "image/webp", path: "/only.webp" },
  ]);
});

test("attachments of a newer protocol are named", () => {
  const context = create(SelectedContextSchema);
  context.$unknown = [{ no: 99, wireType: 2, data: new Uint8Array() }];
  expect(readSelected(context).facts.entries).toEqual([
    { kind: "unknown", label: "field 99", text: "[the client attached something this server does not know]" },
  ]);
});

test("attachments stay within their bounds and say what was cut", () => {
  const content = fc.integer({ min: 0, max: 40_000 }).map((length) => "x".repeat(length));
  fc.assert(
    fc.property(fc.array(content, { maxLength: 80 }), (contents) => {
      const { facts } = read({ files: contents.map((text, index) => ({ path: `/${index}`, content: text })) });
      const { each, total, count } = promptLimits.selected;
      expect(facts.entries.length).toBeLessThanOrEqual(count);
      expect(facts.entries.reduce((sum, entry) => sum + entry.text.length, 0)).toBeLessThanOrEqual(total);
      expect(facts.entries.length + facts.leftOut.count).toBe(contents.length);
      for (const entry of facts.entries) {
        const whole = contents[Number(entry.label.slice(1))] ?? "";
        expect(entry.text.length).toBeLessThanOrEqual(each);
        if (entry.text !== whole) expect(entry.text).toContain(`of ${whole.length} characters are shown]`);
      }
    }),
    { numRuns: 40 },
  );
});
