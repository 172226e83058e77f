import { FaultError, fault } from "../run/faults.js";
import type { PassEvent, RunInput } from "../run/inputs.js";
import type { RunState } from "../run/state.js";
import type { Wanted } from "../run/wanted.js";
import type { TurnEffects } from "./ports.js";

/** What a run's effects report to. */
export interface EffectSink {
  /** Puts an input in the mailbox; resolves when there is room for more. */
  offer(input: RunInput): Promise<void>;
  /** Puts an input in the mailbox; resolves once it had its effect. */
  deliver(input: RunInput): Promise<unknown>;
  passAlive(): void;
  /** A projection is over; another may be wanted by now. */
  projectionDone(): void;
  problem(what: string, cause: unknown): void;
}

/** One for all: every pass is stopped in the end, and a new one would collect a stack each time. */
const unwanted = new DOMException("The pass is no longer wanted", "AbortError");

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
    this.#pass?.abort.abort(unwanted);
    this.#pass = null;
  }

  #startPass(state: RunState, number: number): void {
    const abort = new AbortController();
    // It stays the running pass until the run wants another or none: its end may still lie in the mailbox, and
    // starting it again meanwhile would call the model twice.
    this.#pass = { number, abort };
    let reported = false;
    const emit = (event: PassEvent) => {
      reported ||= isReport(event);
      return abort.signal.aborted ? Promise.resolve() : this.#sink.offer({ kind: "pass", pass: number, event });
    };
    const alive = () => this.#sink.passAlive();
    this.#turn
      .runPass(state, emit, alive, abort.signal)
      .then(() => {
        if (!reported && !abort.signal.aborted) throw new Error("the pass ended without a report");
      })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        if (!FaultError.is(error)) this.#sink.problem("a pass failed unexpectedly", error);
        const unexpected = fault("server/internal", "The turn failed unexpectedly. The server's log has the cause.");
        return emit({ kind: "failed", fault: FaultError.is(error) ? error.fault : unexpected });
      })
      .catch((error: unknown) => this.#sink.problem("a pass could not report its failure", error));
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
      .then((input) => this.#sink.deliver(input))
      .catch((error: unknown) => this.#sink.problem("a checkpoint could not be handed over", error))
      .finally(() => {
        this.#projection = null;
        this.#sink.projectionDone();
      });
  }
}

/** True for the event that ends a pass. */
function isReport(event: PassEvent): boolean {
  return event.kind === "ended" || event.kind === "failed" || event.kind === "blobs-missing";
}
