import type { RunState } from "../run/state.js";
import type { ToolContext } from "../tools/tool.js";
import { turnFacts } from "./facts.js";

/** What a tool may know of the run. */
export function toolContext(state: RunState, now: number): ToolContext {
  const facts = turnFacts(state);
  const workspaces = facts.context?.env?.workspacePaths ?? [];
  return {
    workspace: workspaces[0] ?? null,
    workspaces,
    mode: facts.mode,
    mcpRoutes: facts.mcp,
    todos: facts.todos,
    now,
  };
}
