import type { LeftOut } from "./cut-text.js";

/*
 * Facts are JSON, kept in the run's log: type aliases, because interfaces do not count as JSON objects. Nothing here is
 * larger than `promptLimits` allows, so whoever renders facts need not measure again.
 */

/** What the client said about its workspace and configuration, bounded and in a fixed order. */
export type ContextFacts = {
  readonly env: EnvironmentFacts | null;
  readonly gitRepos: readonly GitFacts[];
  readonly gitReposLeftOut: LeftOut;
  /** User and team rules first, then the project's, each group in the client's order. */
  readonly rules: readonly RuleFacts[];
  readonly rulesLeftOut: LeftOut;
  /** AGENTS.md and its relatives, in the client's order. */
  readonly projectFiles: readonly FileFacts[];
  readonly projectFilesLeftOut: LeftOut;
  readonly skills: readonly SkillFacts[];
  readonly skillsLeftOut: LeftOut;
  readonly mcpServers: readonly McpServerFacts[];
  readonly mcpServersLeftOut: LeftOut;
  readonly subagents: readonly SubagentFacts[];
  readonly subagentsLeftOut: LeftOut;
  readonly layouts: readonly FileFacts[];
  readonly layoutsLeftOut: LeftOut;
  readonly files: readonly FileFacts[];
  readonly filesLeftOut: LeftOut;
  /** Files the user changed while the agent was not looking: `path (new)`. */
  readonly userChanges: readonly string[];
  readonly plugins: readonly PluginFacts[];
  readonly notes: { readonly conversation: string; readonly shared: string };
  readonly intentSummary: string;
  readonly hooks: { readonly steps: readonly string[]; readonly context: string };
  readonly permissions: PermissionFacts;
  /** As the client words them: "enabled", "disabled" or the line to add; empty when unknown. */
  readonly attribution: { readonly commit: string; readonly pullRequest: string };
  readonly features: FeatureFacts;
  readonly debug: { readonly logPath: string; readonly endpoint: string; readonly sessionId: string } | null;
};

/** The machine and its folders; empty texts are unknown. */
export type EnvironmentFacts = {
  readonly osVersion: string;
  readonly shell: string;
  /** Absolute paths in the client's spelling; the first is the main one. */
  readonly workspacePaths: readonly string[];
  readonly timeZone: string;
  readonly processFolder: string;
  readonly projectFolder: string;
  readonly terminalsFolder: string;
  readonly transcriptsFolder: string;
  readonly conversationNotesFolder: string;
  readonly sharedNotesFolder: string;
  readonly artifactsFolder: string;
  readonly stores: readonly { readonly path: string; readonly name: string; readonly readOnly: boolean }[];
  readonly isWorkingDirHomeDir: boolean;
  readonly sandbox: {
    readonly enabled: boolean;
    readonly supported: boolean | null;
    readonly networkDefaults: boolean | null;
    readonly networkAllowed: readonly string[];
  };
  readonly secretRedaction: boolean | null;
  readonly computerUse: boolean | null;
  readonly smartModeClassifier: boolean | null;
};

/** One repository; `text` is its status, `remote` has no credentials. */
export type GitFacts = {
  readonly path: string;
  readonly branch: string;
  readonly remote: string;
  readonly text: string;
};

/** A rule. `always` and `files` have their content as text, `on-request` the description of when to read it. */
export type RuleFacts = {
  readonly path: string;
  readonly kind: "always" | "files" | "on-request";
  readonly source: "team" | "user" | "project" | "cloud";
  readonly globs: readonly string[];
  readonly scopes: readonly string[];
  readonly text: string;
};

/** A path and a text: of a file, or of the tree below a folder. */
export type FileFacts = { readonly path: string; readonly text: string };

/** A skill the model may read when its description (the text) fits the task. */
export type SkillFacts = { readonly name: string; readonly path: string; readonly text: string };

/** An MCP server with its instructions as text, empty when it gives none. */
export type McpServerFacts = { readonly identifier: string; readonly name: string; readonly text: string };

/** A subagent type of the client's; the text is its description. */
export type SubagentFacts = {
  readonly name: string;
  readonly text: string;
  /** A model id, or "inherit". */
  readonly model: string;
  readonly readonly: boolean;
  readonly background: boolean;
};

/** A plugin the client points out. */
export type PluginFacts = { readonly name: string; readonly why: string; readonly text: string };

/** Standing instructions on what may run, and commands that never may. */
export type PermissionFacts = {
  readonly allow: readonly string[];
  readonly block: readonly string[];
  readonly deniedCommands: readonly string[];
};

/** Switches of the client; null when it did not say. */
export type FeatureFacts = {
  readonly webSearch: boolean | null;
  readonly webFetch: boolean | null;
  readonly readLints: boolean | null;
  readonly mcpAuth: boolean | null;
  readonly searchConversations: boolean | null;
  readonly sendMessage: boolean | null;
};
