import type { RunInput } from "../run/inputs.js";
import type { RunState } from "../run/state.js";
import { FaultError, fault } from "../run/faults.js";
import type { Wanted } from "../run/wanted.js";
import type { TurnEffects } from "./ports.js";

/** What a run's effects report to. */
export interface EffectSink {
  /** Puts an input in the mailbox; resolves when there is room for more. */
  offer(input: RunInput): Promise<void>;
  passAlive(): void;
  problem(what: string, cause: unknown): void;
}

/**
 * What is going on in the world for one run. `reconcile` compares it with what is wanted and starts and stops the
 * difference; after a crash nothing special happens.
 */
export class RunningEffects {
  #pass: { readonly number: number; readonly abort: AbortController } | null = null;
  #projection: number | null = null;
  readonly #turn: TurnEffects;
  readonly #sink: EffectSink;

  constructor(turn: TurnEffects, sink: EffectSink) {
    this.#turn = turn;
    this.#sink = sink;
  }

  reconcile(state: RunState, wanted: Wanted): void {
    if (this.#pass && this.#pass.number !== wanted.pass) this.stop();
    if (wanted.pass !== null && !this.#pass) this.#startPass(state, wanted.pass);
    if (wanted.projection !== null && this.#projection === null) this.#startProjection(state, wanted.projection);
  }

  /** Cuts the running pass; the vendor's connection closes at once. */
  stop(): void {
    this.#pass?.abort.abort(new DOMException("The pass is no longer wanted", "AbortError"));
    this.#pass = null;
  }

  #startPass(state: RunState, number: number): void {
    const abort = new AbortController();
    const running = { number, abort };
    this.#pass = running;
    const emit = (event: Extract<RunInput, { kind: "pass" }>["event"]) =>
      abort.signal.aborted ? Promise.resolve() : this.#sink.offer({ kind: "pass", pass: number, event });
    const alive = () => this.#sink.passAlive();
    this.#turn
      .runPass(state, emit, alive, abort.signal)
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        if (!FaultError.is(error)) this.#sink.problem("a pass failed unexpectedly", error);
        const cause = FaultError.is(error)
          ? error.fault
          : fault("server/internal", "The turn failed unexpectedly. The server's log has the cause.");
        return emit({ kind: "failed", fault: cause });
      })
      .finally(() => {
        if (this.#pass === running) this.#pass = null;
      });
  }

  #startProjection(state: RunState, revision: number): void {
    this.#projection = revision;
    this.#turn
      .project(state, revision)
      .then((projection): RunInput => ({ kind: "projected", projection }))
      .catch((error: unknown): RunInput => {
        this.#sink.problem("a checkpoint could not be projected", error);
        return { kind: "projection-failed", revision, why: "it could not be made" };
      })
      .then((input) => {
        this.#projection = null;
        return this.#sink.offer(input);
      })
      .catch((error: unknown) => this.#sink.problem("a checkpoint could not be handed over", error));
  }
}
