import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isInside, realPathOf } from "../policy/workspace-paths.js";
import type { ExecutorContext } from "./executor-context.js";
import { limits } from "./limits.js";
import { runRipgrep } from "./ripgrep.js";

/** A file of instructions. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** Reads files of instructions within bounds: each, all together, and never through a link out of its workspace. */
export class ProjectFiles {
  readonly #context: ExecutorContext;
  #room: number = limits.instructionBytes;
  #count: number = limits.instructionFiles;

  constructor(context: ExecutorContext) {
    this.#context = context;
  }

  /** Files below a workspace whose path matches one of the patterns, in every folder that is not ignored. */
  async search(root: string, patterns: readonly string[]): Promise<ProjectFile[]> {
    const names: string[] = [];
    const options = ["--files", "--hidden", "--null", "--sort=path", "--max-depth=8", "--glob-case-insensitive"];
    const globs = [...patterns, "!**/.git", "!**/node_modules"].map((pattern) => `--glob=${pattern}`);
    const signal = AbortSignal.timeout(limits.treeTimeoutMs);
    await runRipgrep(this.#context.processes, [...options, ...globs], root, "\0", signal, (name) => {
      if (name !== "") names.push(name);
      return names.length < limits.instructionFiles;
    }).catch(() => undefined);
    return this.#read(
      root,
      names.map((name) => join(root, name)),
    );
  }

  /** Files below a folder of settings, whether ignored or not, by a test of their names. */
  async list(root: string, folder: string, isWanted: (path: string) => boolean): Promise<ProjectFile[]> {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    const paths = entries
      .filter((entry) => entry.isFile() || entry.isSymbolicLink())
      .map((entry) => join(entry.parentPath, entry.name));
    return this.#read(root, paths.filter(isWanted).sort());
  }

  async #read(root: string, paths: readonly string[]): Promise<ProjectFile[]> {
    const files: ProjectFile[] = [];
    const home = await realPathOf(root);
    for (const path of paths) {
      if (this.#count <= 0 || this.#room <= 0) break;
      if (this.#context.ignored.covers(path) || !isInside(home, await realPathOf(path))) continue;
      const text = await readStart(path, Math.min(limits.instructionFileBytes, this.#room));
      if (text === null || text.trim() === "") continue;
      this.#count -= 1;
      this.#room -= Buffer.byteLength(text);
      files.push({ path, text });
    }
    return files;
  }
}

async function readStart(path: string, limit: number): Promise<string | null> {
  try {
    const file = await open(path, "r");
    try {
      const buffer = Buffer.alloc(limit);
      const { bytesRead } = await file.read(buffer, 0, limit, 0);
      return new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: bytesRead === limit });
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}
