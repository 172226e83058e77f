import { create } from "@bufbuild/protobuf";
import { type RequestContext, RequestContextSchema } from "@keyturn/protocol/agent";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../run/ids.js";
import { readContext, subagentPromptOf } from "./index.js";
import { promptLimits } from "./prompt-limits.js";
import { renderSystem, systemSections } from "./system-sections.js";
import { sampleContext } from "./testing.js";

const none = { count: 0, names: [] };

test("a realistic context, whole", () => {
  expect(readContext(sampleContext())).toEqual({
    env: {
      osVersion: "linux 6.8",
      shell: "bash",
      workspacePaths: ["/home/ada/engine", "/home/ada/notes"],
      timeZone: "Europe/London",
      processFolder: "/home/ada/engine",
      projectFolder: "/home/ada/.client/projects/engine",
      terminalsFolder: "/home/ada/.client/projects/engine/terminals",
      transcriptsFolder: "",
      conversationNotesFolder: "",
      sharedNotesFolder: "",
      artifactsFolder: "",
      stores: [],
      isWorkingDirHomeDir: false,
      sandbox: {
        enabled: true,
        supported: true,
        networkDefaults: null,
        networkAllowed: ["api.example", "registry.example"],
      },
      secretRedaction: null,
      computerUse: null,
      smartModeClassifier: null,
    },
    gitRepos: [
      {
        path: "/home/ada/engine",
        branch: "main",
        remote: "https://git.example/ada/engine.git",
        text: "## main\n M src/mill.ts",
      },
    ],
    gitReposLeftOut: none,
    rules: [
      { path: "", kind: "always", source: "user", globs: [], scopes: [], text: "Answer in British English." },
      { path: "", kind: "always", source: "team", globs: [], scopes: [], text: "Two spaces." },
      {
        path: "/home/ada/engine/.rules/sql.mdc",
        kind: "files",
        source: "project",
        globs: ["**/*.sql", "db/**"],
        scopes: [],
        text: "Upper-case keywords.",
      },
      {
        path: "/home/ada/engine/.rules/release.mdc",
        kind: "on-request",
        source: "project",
        globs: [],
        scopes: [],
        text: "How to cut a release",
      },
    ],
    rulesLeftOut: none,
    projectFiles: [{ path: "/home/ada/engine/AGENTS.md", text: "Run `make check` before you finish." }],
    projectFilesLeftOut: none,
    skills: [{ name: "cards", path: "/home/ada/engine/.skills/cards/SKILL.md", text: "Punch cards" }],
    skillsLeftOut: none,
    mcpServers: [
      { identifier: "tiny", name: "tiny", text: "" },
      { identifier: "tracker", name: "Tracker", text: "Link issues as ENG-1." },
    ],
    mcpServersLeftOut: none,
    subagents: [
      { name: "builder", text: "Builds.", model: "fast-1", readonly: false, background: true },
      {
        name: "reviewer",
        text: "Reads a change and lists faults.",
        model: "inherit",
        readonly: true,
        background: false,
      },
    ],
    subagentsLeftOut: none,
    layouts: [
      {
        path: "/home/ada/engine",
        text: "/home/ada/engine/\n  Makefile\n  src/ (1 file; not listed)\n    mill.ts",
      },
    ],
    layoutsLeftOut: none,
    files: [{ path: "/home/ada/engine/src/mill.ts", text: "export const columns = 50;\n" }],
    filesLeftOut: none,
    userChanges: [],
    plugins: [],
    notes: { conversation: "", shared: "- gears.md" },
    intentSummary: "",
    hooks: { steps: ["preCompact", "stop"], context: "The build server is down today." },
    permissions: { allow: ["npm test"], block: ["deploying"], deniedCommands: ["rm -rf /"] },
    attribution: { commit: "enabled", pullRequest: "disabled" },
    features: {
      webSearch: false,
      webFetch: null,
      readLints: null,
      mcpAuth: null,
      searchConversations: null,
      sendMessage: null,
    },
    debug: null,
  });
});

test("facts are JSON, for an empty context too", () => {
  for (const context of [sampleContext(), create(RequestContextSchema)]) {
    const facts: Json = readContext(context);
    expect(JSON.parse(JSON.stringify(facts))).toEqual(facts);
  }
});

test("the order of what has no order changes no byte", () => {
  const context = manyContext();
  const facts = JSON.stringify(readContext(context));
  const system = systemOf(context);
  const shuffled = <Item>(items: readonly Item[]) =>
    fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });
  fc.assert(
    fc.property(
      fc.record({
        gitRepos: shuffled(context.gitRepos),
        agentSkills: shuffled(context.agentSkills),
        customSubagents: shuffled(context.customSubagents),
        mcpInstructions: shuffled(context.mcpInstructions),
        projectLayouts: shuffled(context.projectLayouts),
        adminCommandDenylist: shuffled(context.adminCommandDenylist),
        fileContents: shuffled(Object.entries(context.fileContents)).map((entries) => Object.fromEntries(entries)),
      }),
      (changes) => {
        const other = create(RequestContextSchema, { ...context, ...changes });
        expect(JSON.stringify(readContext(other))).toBe(facts);
        expect(systemOf(other)).toBe(system);
      },
    ),
    { numRuns: 30 },
  );
});

test("rules keep the client's order", () => {
  const rules = ["b", "a", "c"].map((name) => ({ fullPath: `/w/${name}.mdc`, content: `rule ${name}` }));
  const facts = readContext(sampleContext({ rules, nonFileRules: [], cloudRule: "from the cloud" }));
  expect(facts.rules.map((rule) => rule.text)).toEqual(["from the cloud", "rule b", "rule a", "rule c"]);
});

test("a team rule the user switched off is not told unless it is required", () => {
  const rule = (fullPath: string, isRequired: boolean) => ({ fullPath, content: fullPath, source: 1, isRequired });
  const rules = [rule("/team/a", false), rule("/team/b", true), rule("/team/c", false)];
  const facts = readContext(sampleContext({ rules, nonFileRules: [], disabledTeamRules: ["/team/a", "/team/b"] }));
  expect(facts.rules.map((one) => one.path)).toEqual(["/team/b", "/team/c"]);
});

test("project files of two folders are both told, though they say the same", () => {
  const rules = ["/w/AGENTS.md", "/w/CLAUDE.md", "/w/web/AGENTS.md", "C:\\w\\AGENTS.md"].map((fullPath) => ({
    fullPath,
    content: "Same.",
  }));
  const facts = readContext(sampleContext({ rules }));
  expect(facts.projectFiles.map((file) => file.path)).toEqual(["/w/AGENTS.md", "/w/web/AGENTS.md", "C:\\w\\AGENTS.md"]);
});

test("skills only a person may start, or that are off, are not told", () => {
  const facts = readContext(
    sampleContext({
      agentSkills: [
        { fullPath: "/s/hidden/SKILL.md", description: "h", disableModelInvocation: true },
        { fullPath: "/s/off/SKILL.md", description: "o" },
      ],
      skillOptions: {
        skillDescriptors: [
          { name: "Hidden", readmeFilePath: "/s/hidden/SKILL.md", enabled: true },
          { name: "Off", readmeFilePath: "/s/off/SKILL.md", enabled: false },
          { name: "On", readmeFilePath: "/s/on/SKILL.md", description: "d", enabled: true },
        ],
      },
    }),
  );
  expect(facts.skills).toEqual([{ name: "On", path: "/s/on/SKILL.md", text: "d" }]);
});

test("an MCP server named in several lists is told once, with its instructions", () => {
  const mcpDescriptors = [{ serverName: "Tracker", serverIdentifier: "project-tracker", serverUseInstructions: "two" }];
  const facts = readContext(
    sampleContext({
      mcpInstructions: [{ serverName: "Tracker", instructions: "one" }],
      mcpMetaToolOptions: { mcpDescriptors },
      mcpFileSystemOptions: { mcpDescriptors },
    }),
  );
  expect(facts.mcpServers).toEqual([{ identifier: "project-tracker", name: "Tracker", text: "one" }]);
});

test("a child finds the prompt of its type", () => {
  expect(subagentPromptOf(sampleContext(), "builder")).toBe("You build.");
  expect(subagentPromptOf(sampleContext(), "other")).toBeUndefined();
});

test("huge contexts stay within the bounds and say what they lost", () => {
  const big = "😀x".repeat(20_000);
  const many = Array.from({ length: 300 }, (_, index) => `${index}`);
  const context = sampleContext({
    rules: many.map((name) => ({ fullPath: `/w/${name}.mdc`, content: name + big })),
    agentSkills: many.map((name) => ({ fullPath: `/s/${name}/SKILL.md`, description: name + big })),
    customSubagents: many.map((name) => ({ name, description: big })),
    mcpInstructions: many.map((serverName) => ({ serverName, instructions: big })),
    gitRepos: many.map((path) => ({ path: `/${path}`, status: big })),
    fileContents: Object.fromEntries(many.map((path) => [`/${path}`, big])),
    hooksAdditionalContext: big,
    sharedNotesListing: big,
    cloudRule: big,
    adminCommandDenylist: many,
  });
  const facts = readContext(context);
  const size = (items: readonly { text: string }[]) => items.reduce((sum, item) => sum + item.text.length, 0);
  expect(size(facts.rules)).toBeLessThanOrEqual(promptLimits.rules.total);
  expect(facts.rules.length + facts.rulesLeftOut.count).toBe(303);
  expect(size(facts.skills)).toBeLessThanOrEqual(promptLimits.skills.total);
  expect(size(facts.subagents)).toBeLessThanOrEqual(promptLimits.subagents.total);
  expect(size(facts.mcpServers)).toBeLessThanOrEqual(promptLimits.mcpInstructions.total);
  expect(size(facts.gitRepos)).toBeLessThanOrEqual(promptLimits.gitStatus.total);
  expect(size(facts.files)).toBeLessThanOrEqual(promptLimits.files.total);
  expect(facts.permissions.deniedCommands.at(-1)).toBe("[and 250 more]");
  const json = JSON.stringify(facts);
  expect(json.length).toBeLessThan(400_000);
  expect(json).not.toMatch(/\\ud[89a-f]/);
  const system = systemOf(context);
  expect(system).toContain("[cut: the first");
  expect(system).toContain("[left out for size: ");
});

function systemOf(context: RequestContext): string {
  return renderSystem(systemSections({ context: readContext(context), toolNames: ["Read"], modelName: "m" }));
}

function manyContext(): RequestContext {
  const names = ["delta", "alpha", "charlie", "Bravo", "émile"];
  return sampleContext({
    gitRepos: names.map((path) => ({ path: `/w/${path}`, status: path })),
    agentSkills: names.map((name) => ({ fullPath: `/s/${name}/SKILL.md`, description: name })),
    customSubagents: names.map((name) => ({ name, description: name })),
    mcpInstructions: names.map((name) => ({ serverName: name, serverIdentifier: name, instructions: name })),
    projectLayouts: names.map((name) => ({ absPath: `/w/${name}` })),
    adminCommandDenylist: names,
    fileContents: Object.fromEntries(names.map((name) => [`/w/${name}`, name])),
  });
}
