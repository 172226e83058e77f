/*
 * Paths of the client's machine, handled as strings: the server may run on another system, so nothing here asks its
 * own system's rules (I-67). Windows forms are `C:\x`, `C:/x`, `\\server\share`.
 */

/** True for `/x`, `\x`, `C:\x`, `C:/x` and UNC paths. */
export function isAbsolutePath(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path);
}

/** True when a path is written in Windows style. */
export function isWindowsPath(path: string): boolean {
  return /^(?:[A-Za-z]:|\\)/.test(path);
}

/** A path as the client should get it: relative ones are taken from the base. Without a base they stay as given. */
export function resolvePath(base: string | null, path: string): string {
  if (base === null || isAbsolutePath(path)) return path;
  const rest = path.replace(/^(?:\.[/\\]+)+/, "");
  if (rest === "" || rest === ".") return base;
  const separator = isWindowsPath(base) ? "\\" : "/";
  return /[/\\]$/.test(base) ? base + rest : base + separator + rest;
}

/**
 * A spelling under which two names of one file usually meet: separators, `.` and `..` segments folded, Windows paths in
 * lower case. For comparing only; symbolic links are unknown here.
 */
export function comparablePath(path: string): string {
  const windows = isWindowsPath(path);
  const text = windows ? path.replaceAll("\\", "/").toLowerCase() : path;
  const root = text.startsWith("//") && windows ? "//" : text.startsWith("/") ? "/" : "";
  const segments: string[] = [];
  for (const segment of text.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === ".." && segments.length > 0 && segments[segments.length - 1] !== "..") segments.pop();
    else if (segment !== ".." || root === "") segments.push(segment);
  }
  return root + segments.join("/");
}

/** True when two absolute paths name the same place as far as their text tells. */
export function isSamePath(one: string, other: string): boolean {
  return comparablePath(one) === comparablePath(other);
}

/**
 * A file name of a search answer as the model should see it. Clients name files relative to the searched root
 * (`./src/a.ts`); below the workspace they stay relative, elsewhere they become absolute.
 */
export function presentPath(root: string, file: string, workspace: string | null): string {
  if (isAbsolutePath(file)) return file;
  const relative = file.replace(/^(?:\.[/\\]+)+/, "");
  const atWorkspace = root === "" || (workspace !== null && isSamePath(root, workspace));
  return atWorkspace ? relative : resolvePath(root, relative);
}
