import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  CursorRuleSource,
  CustomSubagentPermissionMode,
  type RequestContext,
  RequestContextSchema,
} from "@keyturn/protocol/agent";

type ContextChanges = Exclude<MessageInitShape<typeof RequestContextSchema>, RequestContext>;

/** For tests: a context as a client of a real project sends it. */
export function sampleContext(changes: ContextChanges = {}): RequestContext {
  return create(RequestContextSchema, { ...sample, ...changes });
}

const sample: ContextChanges = {
  env: {
    osVersion: "linux 6.8",
    workspacePaths: ["/home/ada/engine", "/home/ada/notes"],
    shell: "bash",
    timeZone: "Europe/London",
    projectFolder: "/home/ada/.client/projects/engine",
    terminalsFolder: "/home/ada/.client/projects/engine/terminals",
    sandboxEnabled: true,
    sandboxSupported: true,
    sandboxNetworkExplicitAllowlist: ["registry.example", "api.example"],
    isWorkingDirHomeDir: false,
    processWorkingDirectory: "/home/ada/engine",
  },
  gitRepos: [
    {
      path: "/home/ada/engine",
      status: "## main\n M src/mill.ts\n",
      branchName: "main",
      remoteUrl: "https://ada:ghp_secret@git.example/ada/engine.git",
    },
  ],
  rules: [
    { fullPath: "/home/ada/engine/AGENTS.md", content: "Run `make check` before you finish.\n", type: globalType() },
    { fullPath: "/home/ada/engine/.rules/style.mdc", content: "Two spaces.", type: globalType() },
    {
      fullPath: "/home/ada/engine/.rules/sql.mdc",
      content: "Upper-case keywords.",
      type: { type: { case: "fileGlobbed", value: { globs: ["**/*.sql", "db/**"] } } },
    },
    {
      fullPath: "/home/ada/engine/.rules/release.mdc",
      content: "(long)",
      type: { type: { case: "agentFetched", value: { description: "How to cut a release" } } },
    },
    {
      fullPath: "/home/ada/engine/.skills/cards/SKILL.md",
      content: "(long)",
      type: { type: { case: "agentFetched", value: { description: "Punch cards" } } },
    },
    {
      fullPath: "/home/ada/engine/.rules/by-hand.mdc",
      content: "Only when attached.",
      type: { type: { case: "manuallyAttached", value: {} } },
    },
  ],
  nonFileRules: [
    { content: "Answer in British English.", source: CursorRuleSource.USER, type: globalType() },
    { content: "Two spaces.", source: CursorRuleSource.TEAM, type: globalType() },
  ],
  agentSkills: [
    { fullPath: "/home/ada/engine/.skills/cards/SKILL.md", content: "# Cards", description: "Punch cards" },
  ],
  mcpInstructions: [{ serverName: "Tracker", serverIdentifier: "tracker", instructions: "Link issues as ENG-1." }],
  mcpMetaToolOptions: { enabled: true, mcpDescriptors: [{ serverName: "tiny", serverIdentifier: "tiny" }] },
  customSubagents: [
    {
      name: "reviewer",
      description: "Reads a change and lists faults.",
      model: "inherit",
      prompt: "You review.",
      permissionMode: CustomSubagentPermissionMode.READONLY,
    },
    { name: "builder", description: "Builds.", model: "fast-1", prompt: "You build.", isBackground: true },
  ],
  projectLayouts: [
    {
      absPath: "/home/ada/engine",
      childrenDirs: [{ absPath: "/home/ada/engine/src", childrenFiles: [{ name: "mill.ts" }], numFiles: 1 }],
      childrenFiles: [{ name: "Makefile" }],
      childrenWereProcessed: true,
      numFiles: 2,
    },
  ],
  fileContents: { "/home/ada/engine/src/mill.ts": "export const columns = 50;\n" },
  sharedNotesListing: "- gears.md",
  commitAttributionMessage: "enabled",
  prAttributionMessage: "disabled",
  webSearchEnabled: false,
  hooksAdditionalContext: "The build server is down today.",
  hooksConfig: { configuredSteps: ["stop", "preCompact"] },
  adminCommandDenylist: ["rm -rf /"],
  userPermissionsAutoRun: { allowInstructions: ["npm test"], blockInstructions: ["deploying"] },
};

function globalType() {
  return { type: { case: "global" as const, value: {} } };
}
