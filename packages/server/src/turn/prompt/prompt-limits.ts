/** Bounds of one kind of text: characters of each, of all together, and how many there may be. */
export interface TextLimits {
  readonly each: number;
  readonly total: number;
  readonly count: number;
}

/** What a client may bring into a prompt (U6). Characters are UTF-16 code units, as every text here is measured. */
export const promptLimits = {
  rules: { each: 6_000, total: 24_000, count: 40 },
  projectFiles: { each: 12_000, total: 24_000, count: 12 },
  skills: { each: 800, total: 16_000, count: 32 },
  subagents: { each: 800, total: 16_000, count: 32 },
  mcpInstructions: { each: 4_000, total: 16_000, count: 40 },
  gitStatus: { each: 4_000, total: 12_000, count: 10 },
  layouts: { each: 8_000, total: 16_000, count: 8 },
  files: { each: 16_000, total: 64_000, count: 12 },
  permissions: { each: 400, total: 6_000, count: 40 },
  selected: { each: 16_000, total: 64_000, count: 60 },
  customSystemPrompt: 32_000,
  subagentPrompt: 32_000,
  hookContext: 8_000,
  notesListing: 4_000,
  summary: 2_000,
  attribution: 500,
  /** Names and most paths: what stands in one line. */
  line: 1_000,
  /** Labels of attachments. */
  label: 500,
  /** Workspace paths, which tools build on: as long as systems allow. */
  path: 4_096,
  /** Plain lists of lines: workspaces, globs, changed files. */
  lists: { each: 4_096, total: 16_384, count: 50 },
  /** Names of things that were left out. */
  leftOutNames: 20,
} as const satisfies Readonly<Record<string, number | TextLimits>>;
