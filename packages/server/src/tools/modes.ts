import type { builtInNames } from "./names.js";
import type { ToolContext } from "./tool.js";

type Mode = ToolContext["mode"];

const everywhere: readonly Mode[] = ["agent", "ask", "plan", "debug"];
const writing: readonly Mode[] = ["agent", "debug"];

/**
 * Which tool is offered in which mode; the one place that says so. Ask and plan write nothing, and a shell can write
 * anything: without a sandbox the client has no gate of its own, so the shell counts as writing (W18). MCP tools do not say
 * whether they write; the user chose to connect them, and they are offered everywhere.
 */
export const toolModes: { readonly [name in (typeof builtInNames)[number]]: readonly Mode[] } = {
  Shell: writing,
  Read: everywhere,
  Write: writing,
  Edit: writing,
  Delete: writing,
  Grep: everywhere,
  Glob: everywhere,
  Ls: everywhere,
  ReadLints: everywhere,
  TodoWrite: everywhere,
  ListMcpResources: everywhere,
  FetchMcpResource: everywhere,
};

/** True when tools may change files in this mode. */
export function mayWrite(mode: Mode): boolean {
  return writing.includes(mode);
}
