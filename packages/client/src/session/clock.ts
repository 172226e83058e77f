/** Time as a session sees it; tests hand in their own. */
export interface SessionClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once after a while; the returned function forgets it. */
  after(delayMs: number, wake: () => void): () => void;
}

/** The system's clock. */
export const systemClock: SessionClock = {
  now: () => Date.now(),
  after(delayMs, wake) {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Calls back again and again; the returned function ends it. */
export function every(clock: SessionClock, periodMs: number, tick: () => void): () => void {
  let forget = clock.after(periodMs, again);
  function again(): void {
    forget = clock.after(periodMs, again);
    tick();
  }
  return () => forget();
}

/** Resolves after a while, or as soon as the signal is aborted. */
export function pause(clock: SessionClock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      forget();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const forget = clock.after(delayMs, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
