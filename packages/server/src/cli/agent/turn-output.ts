import type { RunOutcome, SessionEvent } from "@keyturn/client";

/** What is known when a turn begins. */
export interface TurnFacts {
  readonly requestId: string;
  readonly conversationId: string;
  readonly serverUrl: string;
  readonly isPrivateServer: boolean;
}

/** Where a turn is shown. */
export interface TurnOutput {
  started(facts: TurnFacts): void;
  event(event: SessionEvent): void;
  /** A remark that is none of the turn's own. */
  notice(text: string): void;
  ended(outcome: RunOutcome, exitCode: number): void;
}
