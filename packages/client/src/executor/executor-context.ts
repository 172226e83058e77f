import { resolve } from "node:path";
import { realPathOf } from "../policy/workspace-paths.js";
import type { DataFolders } from "./data-folders.js";
import type { Gate } from "./gate.js";
import type { Hooks } from "./hooks.js";
import type { IgnoreFiles } from "./ignore-files.js";
import type { McpServers } from "./mcp-servers.js";
import type { ProcessTrees } from "./process-trees.js";
import type { Shells } from "./shells.js";

/** What all tools share. */
export interface ExecutorContext {
  readonly workspaces: readonly string[];
  /** The first of the workspaces: what relative paths are relative to. */
  readonly workspace: string;
  readonly folders: DataFolders;
  readonly environment: NodeJS.ProcessEnv;
  readonly useProjectSettings: boolean;
  readonly now: () => number;
  readonly gate: Gate;
  readonly hooks: Hooks;
  readonly ignored: IgnoreFiles;
  readonly processes: ProcessTrees;
  readonly shells: Shells;
  readonly mcp: McpServers;
}

/** A path as the model wrote it, absolute, and where it really lies. */
export interface NamedPath {
  readonly absolute: string;
  readonly real: string;
}

/** Resolves a path of the model against the workspace, and its links. */
export async function namedPath(context: ExecutorContext, path: string): Promise<NamedPath> {
  const absolute = resolve(context.workspace, path);
  return { absolute, real: await realPathOf(absolute) };
}
