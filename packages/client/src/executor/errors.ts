/** The system's code of an error (`ENOENT`), or an empty text. */
export function codeOf(cause: unknown): string {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : "";
}

/** What an error says. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** True for errors that mean "not allowed", by permission or by a read-only disk. */
export function isPermission(code: string): boolean {
  return code === "EACCES" || code === "EPERM" || code === "EROFS";
}

/** True for errors that mean "nothing there": also when a file stands where a folder would have to be. */
export function isMissing(code: string): boolean {
  return code === "ENOENT" || code === "ENOTDIR";
}
