const kibi = 1024;

/** Bounds of what one result may hold (I-59). Bytes are UTF-8 bytes. */
export const limits = {
  readBytes: 64 * kibi,
  readLines: 5_000,
  shellStreamBytes: 16 * kibi,
  shellOutputBytes: 32 * kibi,
  grepBytes: 32 * kibi,
  grepLineBytes: 2 * kibi,
  grepMatchesPerFile: 100,
  grepMatches: 300,
  grepFiles: 300,
  globFiles: 200,
  listEntries: 500,
  listBytes: 32 * kibi,
  diagnosticsPaths: 50,
  diagnostics: 300,
  diagnosticsBytes: 32 * kibi,
  editDiffBytes: 4 * kibi,
  /** The diff in the edit's ToolCall, which a person reads. */
  shownDiffBytes: 32 * kibi,
  /** Whole file contents in ToolCalls (before and after an edit, a deleted file). */
  shownFileBytes: 256 * kibi,
  mcpItems: 20,
  mcpTextBytes: 32 * kibi,
  mcpResources: 200,
  mcpResourceListBytes: 32 * kibi,
  mcpDescriptionBytes: kibi,
  /** Images for the model; base64 of more than this passes what providers take. */
  imageBytes: 3_750 * kibi,
  /** Binary bodies kept in ToolCalls. */
  shownDataBytes: 32 * kibi,
  errorBytes: 4 * kibi,
} as const;

/** The longest time a foreground command may take when the model names none. */
export const defaultShellTimeoutMs = 120_000;

/** The longest time a model may ask for. */
export const longestShellTimeoutMs = 3_600_000;
