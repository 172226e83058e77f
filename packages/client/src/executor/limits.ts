const kibi = 1024;
const mebi = 1024 * kibi;

/** Bounds of what the executor reads, keeps and sends, so that no file or command can exhaust the client. */
export const limits = {
  /** Text of one read answer. */
  readBytes: 16 * mebi,
  imageBytes: 20 * mebi,
  /** Previous content that a delete returns, and content returned after a write. */
  returnedFileBytes: 4 * mebi,
  /** Output of one command sent as it comes; what goes beyond is in the file only, but for the tail. */
  streamedBytes: 4 * mebi,
  outputTailCharacters: 64 * kibi,
  /** Output kept of a command that answers at its end, each stream. */
  collectedCharacters: 512 * kibi,
  outputFileBytes: 64 * mebi,
  grepEntries: 20_000,
  grepBytes: 8 * mebi,
  grepLineCharacters: 2_000,
  treeEntries: 5_000,
  treeTimeoutMs: 10_000,
  fetchBytes: 5 * mebi,
  fetchTimeoutMs: 30_000,
  fetchRedirects: 5,
  hookOutputBytes: 256 * kibi,
  hookTimeoutMs: 10_000,
  gitStatusBytes: 16 * kibi,
  gitTimeoutMs: 5_000,
  gitRepos: 10,
  instructionFileBytes: 128 * kibi,
  instructionBytes: 1 * mebi,
  instructionFiles: 200,
  mcpConnectTimeoutMs: 30_000,
  /** How long the context waits for servers that are being started. */
  mcpContextWaitMs: 10_000,
  mcpCallTimeoutMs: 600_000,
  mcpErrorTailCharacters: 2_000,
  journalEntryBytes: 2 * mebi,
  journalHarmlessBytes: 64 * kibi,
  journalEntries: 2_000,
  journalBytes: 32 * mebi,
} as const;

/** The time limit of a command that names none. */
export const defaultShellTimeoutMs = 30_000;

/** How long a process may take between the polite and the hard signal. */
export const killGraceMs = 2_000;
