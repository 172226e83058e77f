import type { AttachmentEnd } from "./attachment.js";
import { outcomeOf, type RunOutcome, type TurnUsage } from "./outcome.js";

/** What is known of a run when one of its connections ends. */
export interface RunFacts {
  readonly turnEnded: boolean;
  readonly usage: TurnUsage | undefined;
  /** Something was heard that has no position: there is no way back to it. */
  readonly isUnpositioned: boolean;
  /** Nothing was heard yet, and there is another way to try. */
  readonly mayChangeTransport: boolean;
}

/** What the end of a connection means. */
export type Verdict =
  | { readonly kind: "over"; readonly outcome: RunOutcome }
  | { readonly kind: "come-back" }
  | { readonly kind: "other-transport" };

const comeBack: Verdict = { kind: "come-back" };
const otherTransport: Verdict = { kind: "other-transport" };

/** Judges the end of a connection. */
export function judge(end: AttachmentEnd, facts: RunFacts): Verdict {
  switch (end.kind) {
    case "completed":
      return over(outcomeOf(undefined, facts.usage));
    case "error":
      // Without the end of the turn before it, it is the stream that ended and not the run.
      if (end.error.isRetryable && !facts.turnEnded) return unlessStranded(end, facts);
      return over(outcomeOf(end.error, facts.usage));
    case "broken":
      return unlessStranded(end, facts);
    case "refused":
      if (end.refusal.isTemporary) return comeBack;
      if (end.refusal.isMismatch && facts.mayChangeTransport) return otherTransport;
      return over({ kind: "refused", refusal: end.refusal });
    case "silent":
      // A proxy may hold streams back.
      return facts.mayChangeTransport ? otherTransport : unlessStranded(end, facts);
    case "unreachable":
      return end.isMismatch && facts.mayChangeTransport ? otherTransport : comeBack;
  }
}

/** The end of a connection as one line for a person. */
export function reasonOf(end: AttachmentEnd): string {
  switch (end.kind) {
    case "completed":
      return "the stream ended";
    case "error":
      return end.error.message;
    case "refused":
      return end.refusal.message;
    case "broken":
    case "silent":
    case "unreachable":
      return end.why;
  }
}

function over(outcome: RunOutcome): Verdict {
  return { kind: "over", outcome };
}

function unlessStranded(end: AttachmentEnd, { isUnpositioned }: RunFacts): Verdict {
  if (!isUnpositioned) return comeBack;
  const why = `${reasonOf(end)}; this server tells no positions, so there is no way back`;
  return over({ kind: "lost", why });
}
