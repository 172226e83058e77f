import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { isInside } from "../policy/workspace-paths.js";

/** Files whose patterns (in the syntax of `.gitignore`) keep paths from every tool. */
const names = [".cursorignore", ".keyturnignore"];

/** What the user keeps from agents by ignore files at the root of each workspace. Read anew for every look. */
export class IgnoreFiles {
  readonly #workspaces: readonly string[];

  constructor(workspaces: readonly string[]) {
    this.#workspaces = workspaces;
  }

  /** True when an ignore file covers the absolute path. */
  covers(path: string): boolean {
    return this.look()(path);
  }

  /** Reads the ignore files once, for many paths. */
  look(): (path: string) => boolean {
    const roots = this.#workspaces.map((root) => {
      return { root, patterns: patternsOf(this.files(root).map(readText).join("\n")) };
    });
    return (path) => {
      const place = roots.find(({ root }) => isInside(root, path));
      if (place === undefined || path === place.root) return false;
      return place.patterns.ignores(relative(place.root, path).split(sep).join("/"));
    };
  }

  /** The ignore files of a workspace that exist. */
  files(root: string): string[] {
    return names.map((name) => join(root, name)).filter((file) => readText(file) !== "");
  }
}

/** The patterns of an ignore file, to be asked with relative paths. */
export function patternsOf(text: string): Ignore {
  return ignore({ allowRelativePaths: true }).add(text);
}

/** A small text file; empty when it is not there or cannot be read. */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
