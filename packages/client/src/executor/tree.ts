import { readdir } from "node:fs/promises";
import { dirname, extname, join, relative, sep } from "node:path";
import { create } from "@bufbuild/protobuf";
import {
  type LsDirectoryTreeNode,
  LsDirectoryTreeNode_FileSchema,
  LsDirectoryTreeNodeSchema,
} from "@keyturn/protocol/agent";
import type { Ignore } from "ignore";
import { isInside } from "../policy/workspace-paths.js";
import type { ExecutorContext } from "./executor-context.js";
import { patternsOf, readText } from "./ignore-files.js";
import { limits } from "./limits.js";

/** A tree as far as it was read. */
export interface ReadTree {
  readonly root: LsDirectoryTreeNode;
  /** False when the time was up. What the bound on entries left out does not count. */
  readonly complete: boolean;
}

interface Scope {
  readonly folder: string;
  readonly patterns: Ignore;
}

interface Open {
  readonly node: LsDirectoryTreeNode;
  readonly scopes: readonly Scope[];
  readonly parent: Open | null;
}

/** Reads a folder breadth first. `goesOn` is asked before each folder. Rejects when the first folder cannot be read. */
export async function readTree(
  path: string,
  ignored: readonly string[],
  context: ExecutorContext,
  goesOn: () => boolean,
): Promise<ReadTree> {
  const asked = patternsOf(ignored.join("\n"));
  const isKeptBack = context.ignored.look();
  const node = create(LsDirectoryTreeNodeSchema, { absPath: path });
  const first: Open = { node, scopes: scopesAbove(path, context.workspaces), parent: null };
  const queue: Open[] = [first];
  let room: number = limits.treeEntries;
  for (let index = 0; index < queue.length; index++) {
    const open = queue[index];
    if (!open) break;
    if (index > 0 && !goesOn()) return { root: node, complete: false };
    if (room <= 0) break;
    const folder = open.node.absPath;
    const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
      if (index === 0) throw cause;
      return [];
    });
    const own = readText(join(folder, ".gitignore"));
    const scopes = own === "" ? open.scopes : [...open.scopes, { folder, patterns: patternsOf(own) }];
    const isShown = (name: string, isFolder: boolean): boolean => {
      const full = join(folder, name);
      if (name === ".git" || isKeptBack(full)) return false;
      return !covers({ folder: path, patterns: asked }, full, isFolder) && !isIgnored(scopes, full, isFolder);
    };
    const shown = entries
      .filter((entry) => isShown(entry.name, entry.isDirectory()))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    const kept = shown.slice(0, room);
    room -= kept.length;
    open.node.childrenWereProcessed = kept.length === shown.length;
    for (const entry of kept) {
      if (!entry.isDirectory()) addFile(open, entry.name);
      else {
        const child = create(LsDirectoryTreeNodeSchema, { absPath: join(folder, entry.name) });
        open.node.childrenDirs.push(child);
        queue.push({ node: child, scopes, parent: open });
      }
    }
  }
  return { root: node, complete: true };
}

function addFile(folder: Open, name: string): void {
  folder.node.childrenFiles.push(create(LsDirectoryTreeNode_FileSchema, { name }));
  const extension = extname(name);
  for (let open: Open | null = folder; open; open = open.parent) {
    open.node.numFiles += 1;
    if (extension === "") continue;
    const counts = open.node.fullSubtreeExtensionCounts;
    counts[extension] = (counts[extension] ?? 0) + 1;
  }
}

/** The ignore files of the folders above, unless they cover the folder itself: who asks for it wants to see it. */
function scopesAbove(path: string, workspaces: readonly string[]): Scope[] {
  const workspace = workspaces.find((root) => isInside(root, path));
  if (workspace === undefined || workspace === path) return [];
  const scopes: Scope[] = [];
  for (let folder = dirname(path); isInside(workspace, folder); folder = dirname(folder)) {
    const text = readText(join(folder, ".gitignore"));
    if (text !== "") scopes.unshift({ folder, patterns: patternsOf(text) });
    if (folder === workspace) break;
  }
  return isIgnored(scopes, path, true) ? [] : scopes;
}

/** The nearest ignore file that says anything decides. */
function isIgnored(scopes: readonly Scope[], path: string, isFolder: boolean): boolean {
  for (const scope of [...scopes].reverse()) {
    const { ignored, unignored } = scope.patterns.test(below(scope.folder, path, isFolder));
    if (ignored || unignored) return ignored;
  }
  return false;
}

function covers({ folder, patterns }: Scope, path: string, isFolder: boolean): boolean {
  return patterns.ignores(below(folder, path, isFolder));
}

function below(folder: string, path: string, isFolder: boolean): string {
  return relative(folder, path).split(sep).join("/") + (isFolder ? "/" : "");
}
