/** What one check came to. */
export interface Finding {
  readonly check: string;
  readonly healthy: boolean;
  /** One sentence: what was found. */
  readonly says: string;
  /** What to do about a problem. */
  readonly next?: string;
}

/** A finding that needs nothing done. */
export function healthy(check: string, says: string): Finding {
  return { check, healthy: true, says };
}

/** A problem and the next step. */
export function problem(check: string, says: string, next: string): Finding {
  return { check, healthy: false, says, next };
}

/** A finding as a person reads it: one line, and the next step on one of its own. */
export function findingLines({ check, healthy: fine, says, next }: Finding): string[] {
  const line = `${fine ? "ok     " : "PROBLEM"}  ${check.padEnd(12)} ${says}`;
  return next === undefined ? [line] : [line, `${" ".repeat(22)}-> ${next}`];
}
