import type { Clock } from "./engine/ports.js";
import type { LogStore } from "./store/port.js";

const hourMs = 3_600_000;

/** What the retention works on. */
export interface RetentionServices {
  /** Deletes in small batches, each in a commit of its own, so that appends go between them. */
  readonly log: Pick<LogStore, "prune">;
  readonly retentionMs: number;
  /** Its timers do not keep the process alive. */
  readonly clock: Clock;
  pruned(runs: number): void;
  problem(what: string, cause: unknown): void;
}

/**
 * Deletes runs that ended longer ago than the retention (R6): once now and then every hour, or as often as the
 * retention is long. One pass at a time; one that fails is reported and the next one tries again. Returns what stops it.
 */
export function startRetention({ log, retentionMs, clock, pruned, problem }: RetentionServices): () => void {
  let stopped = false;
  let forget = () => {};
  const pass = async () => {
    try {
      const runs = await log.prune(clock.now() - retentionMs);
      if (runs > 0) pruned(runs);
    } catch (error) {
      if (!stopped) problem("old runs could not be deleted", error);
    }
    if (!stopped) forget = clock.wakeAt(clock.now() + Math.min(retentionMs, hourMs), () => void pass());
  };
  void pass();
  return () => {
    stopped = true;
    forget();
  };
}
