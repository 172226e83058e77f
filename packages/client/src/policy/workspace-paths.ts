import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

const longestLinkChain = 40;

/**
 * Where a path really lies: links resolved, also when its last parts do not exist yet or a link points to nothing.
 * Two paths that name one file give one answer; a chain of links that never ends stays as it is.
 */
export async function realPathOf(path: string, depth = 0): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch {
    const parent = dirname(absolute);
    if (parent === absolute || depth > longestLinkChain) return absolute;
    const target = await linkTarget(absolute);
    if (target !== null) return realPathOf(resolve(parent, target), depth + 1);
    return join(await realPathOf(parent, depth), basename(absolute));
  }
}

/** True when `path` is `folder` or lies below it; both absolute, links already resolved. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

async function linkTarget(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch {
    return null;
  }
}
