/** Names of the built-in tools, in the order in which they are offered. */
export const builtInNames = [
  "Shell",
  "Read",
  "Write",
  "Edit",
  "Delete",
  "Grep",
  "Glob",
  "Ls",
  "ReadLints",
  "TodoWrite",
  "ListMcpResources",
  "FetchMcpResource",
] as const;

/**
 * Names other rooms offer or will offer. An MCP tool of such a name is renamed now, so that its alias does not change in old
 * conversations when the built-in one arrives.
 */
const reservedNames: readonly string[] = [
  ...builtInNames,
  "AskQuestion",
  "AwaitShell",
  "CallMcpTool",
  "ComputerUse",
  "CreatePlan",
  "CreatePr",
  "Fetch",
  "ForceBackgroundShell",
  "ForceBackgroundSubagent",
  "GenerateImage",
  "PatchEdit",
  "RecordScreen",
  "SeeImage",
  "SwitchMode",
  "Task",
  "UpdatePr",
  "WebFetch",
  "WebSearch",
  "WriteShellStdin",
];

/** True for a name that an MCP tool may not take. */
export function isReservedName(name: string): boolean {
  return reservedNames.includes(name);
}
