const firstMs = 100;
const longestMs = 5_000;

/**
 * How long to wait before the next attempt: twice as long each time, up to five seconds, and between half and all of that, so
 * that many clients of one server do not come back in the same moment. `random` gives a number from 0 to 1.
 */
export function backoffMs(failures: number, random: () => number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(Math.max(0, failures - 1), 16));
  return Math.round(full * (0.5 + random() / 2));
}
