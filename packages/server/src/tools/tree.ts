import { create } from "@bufbuild/protobuf";
import { type LsDirectoryTreeNode, LsDirectoryTreeNodeSchema } from "@keyturn/protocol/agent";
import { limits } from "./limits.js";
import { fitLines, plural } from "./text.js";

/** A directory tree cut to a bound: as text for the model and as a message for the ToolCall. */
export interface BoundedTree {
  readonly text: string;
  readonly root: LsDirectoryTreeNode;
}

interface Kept {
  readonly node: LsDirectoryTreeNode;
  readonly name: string;
  readonly dirs: Kept[];
  files: string[];
  /** Entries below that are not shown. */
  hidden: number;
}

const shownExtensions = 5;
/** Entries a directory may show however many others wait. */
const smallestShare = 10;

/**
 * Cuts breadth first, with the room shared among the directories of a level, so that one huge folder pushes out neither the
 * overview nor its neighbours (I-59).
 */
export function boundTree(root: LsDirectoryTreeNode): BoundedTree {
  let room: number = limits.listEntries;
  const top: Kept = { node: root, name: root.absPath, dirs: [], files: [], hidden: 0 };
  const queue = [top];
  let hidden = 0;
  for (let index = 0; index < queue.length; index++) {
    const kept = queue[index];
    if (!kept) break;
    const { childrenDirs, childrenFiles } = kept.node;
    const share = Math.min(room, Math.max(smallestShare, Math.floor(room / (queue.length - index))));
    const dirs = childrenDirs.slice(0, share);
    const files = childrenFiles.slice(0, share - dirs.length);
    room -= dirs.length + files.length;
    kept.files = files.map((file) => file.name);
    kept.hidden = childrenDirs.length + childrenFiles.length - dirs.length - files.length;
    hidden += kept.hidden;
    for (const node of dirs) {
      const child = { node, name: nameOf(node.absPath), dirs: [], files: [], hidden: 0 };
      kept.dirs.push(child);
      queue.push(child);
    }
  }
  const lines = draw(top);
  const fitted = fitLines(lines, limits.listBytes);
  const notices = [];
  if (hidden > 0) notices.push(`[${plural(hidden, "entry")} of listed directories not shown; list a subdirectory]`);
  if (fitted.lines.length < lines.length)
    notices.push(`[truncated: showing ${fitted.lines.length} of ${lines.length} lines]`);
  return { text: [...fitted.lines, ...notices].join("\n"), root: message(top) };
}

function draw(top: Kept): string[] {
  const lines: string[] = [];
  // An explicit stack: the depth of the tree is the client's choice.
  const stack: { kept: Kept; depth: number }[] = [{ kept: top, depth: 0 }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { kept, depth } = next;
    const indent = "  ".repeat(depth);
    lines.push(`${indent}${kept.name.replace(/[/\\]$/, "")}/${summary(kept)}`);
    for (const file of kept.files) lines.push(`${indent}  ${file}`);
    for (const child of [...kept.dirs].reverse()) stack.push({ kept: child, depth: depth + 1 });
  }
  return lines;
}

function summary({ node, hidden }: Kept): string {
  if (hidden > 0) return ` (${hidden} more)`;
  if (node.childrenWereProcessed || node.numFiles === 0) return "";
  const extensions = Object.entries(node.fullSubtreeExtensionCounts)
    .sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1))
    .slice(0, shownExtensions)
    .map(([extension, count]) => `${count} ${extension}`);
  return ` (${plural(node.numFiles, "file")}${extensions.length > 0 ? `: ${extensions.join(", ")}` : ""}; not listed)`;
}

function message(top: Kept): LsDirectoryTreeNode {
  const build = (kept: Kept): LsDirectoryTreeNode =>
    create(LsDirectoryTreeNodeSchema, {
      absPath: kept.node.absPath,
      childrenWereProcessed: kept.node.childrenWereProcessed && kept.hidden === 0,
      fullSubtreeExtensionCounts: kept.node.fullSubtreeExtensionCounts,
      numFiles: kept.node.numFiles,
      childrenFiles: kept.files.map((name) => ({ name })),
      childrenDirs: kept.dirs.map(build),
    });
  return build(top);
}

function nameOf(path: string): string {
  return (
    path
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .pop() || path
  );
}
