import { type Fault, FaultError, faultKinds } from "../run/faults.js";
import type { ModelEvent } from "./port.js";

/** When to try again. */
export interface RetryPolicy {
  /** Attempts in all. */
  readonly tries: number;
  /** First pause; doubles with each further one. */
  readonly baseDelayMs: number;
  /** A provider that asks for a longer pause is not waited for. */
  readonly maxDelayMs: number;
}

/** Three attempts, 1 s and 2 s apart, and never a wait of more than 30 s. */
export const defaultRetryPolicy: RetryPolicy = { tries: 3, baseDelayMs: 1_000, maxDelayMs: 30_000 };

/** The time and chance that retries depend on. */
export interface RetryClock {
  /** Resolves after the delay, rejects with the abort reason. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
  /** From 0 up to but not including 1. */
  random(): number;
}

/** Makes one attempt. */
export type AttemptStream = () => AsyncIterable<ModelEvent>;

/** What a failed attempt leads to. */
export type AfterFailure = (fault: Fault) => "retry-now" | "default";

/**
 * The one retry layer: repeats an attempt while nothing of it has been given out (I-118), with the pause the
 * provider asks for or a growing one with jitter (I-115), and only where another try can help (I-117).
 * Throws the last FaultError.
 */
export async function* withRetries(
  attempt: AttemptStream,
  options: { policy: RetryPolicy; clock: RetryClock; signal: AbortSignal; onFailure?: AfterFailure },
): AsyncGenerator<ModelEvent> {
  const { policy, clock, signal } = options;
  let paused = 0;
  for (;;) {
    const held: ModelEvent[] = [];
    let isOut = false;
    try {
      for await (const event of attempt()) {
        if (!isOut && !isVisible(event)) {
          held.push(event);
          continue;
        }
        isOut = true;
        yield* held.splice(0);
        yield event;
      }
      return;
    } catch (error) {
      if (signal.aborted || isOut || !FaultError.is(error)) throw error;
      const { fault } = error;
      // A request that was changed after a refusal is another request: it costs no try and no pause.
      if (options.onFailure?.(fault) === "retry-now") continue;
      const delayMs = paused + 1 < policy.tries ? pauseFor(fault, paused, policy, clock) : undefined;
      if (delayMs === undefined) throw error;
      paused += 1;
      yield { kind: "waiting", reason: `${fault.title}. ${fault.detail}`, delayMs };
      await clock.sleep(delayMs, signal);
    }
  }
}

/** Events without anything to see are held back, so that a failure after them can still be tried again. */
function isVisible(event: ModelEvent): boolean {
  return event.kind !== "reasoning-ended" && event.kind !== "text-ended";
}

/** The pause before the next try in milliseconds; undefined when there should be none. */
export function pauseFor(
  fault: Fault,
  pausesSoFar: number,
  policy: RetryPolicy,
  clock: Pick<RetryClock, "random">,
): number | undefined {
  if (faultKinds[fault.code].retry === "never") return undefined;
  const asked = fault.retryAfterMs ?? 0;
  if (asked > policy.maxDelayMs) return undefined;
  const growing = policy.baseDelayMs * 2 ** pausesSoFar;
  // Jitter only ever adds to what the provider asked for.
  return Math.round(Math.min(policy.maxDelayMs, Math.max(asked, growing) + growing * 0.25 * clock.random()));
}
