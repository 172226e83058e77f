import { type Decision, decide } from "../../../packages/server/src/run/decide.js";
import type { World } from "../../../packages/server/src/run/draft.js";
import { evolve } from "../../../packages/server/src/run/evolve.js";
import { noSigns, type PassEvent, type RunInput, type Signs } from "../../../packages/server/src/run/inputs.js";
import { type CoreLimits, defaultLimits } from "../../../packages/server/src/run/limits.js";
import type { RunOptions } from "../../../packages/server/src/run/records.js";
import { newRun, type RunState } from "../../../packages/server/src/run/state.js";
import { type Deadline, type Wanted, wanted } from "../../../packages/server/src/run/wanted.js";
import { canonical, decodeEntry, encodeEntry } from "./encoding.js";
import { toyLogic } from "./toy-logic.js";
import type { ToyMessage } from "./toy-messages.js";

/** Where the virtual clock of every driven run begins. */
export const epoch = 1_000_000;

/** Limits small enough for a random walk to reach them. */
export const toyLimits: CoreLimits = { ...defaultLimits, inboxCount: 4, maxInterruptions: 2 };

/** Options of every toy run. */
export const toyOptions: RunOptions = { disconnectGraceMs: 45_000, maxPasses: 6, totalMs: 7_200_000 };

const key = { requestId: "run", generation: 0 };

/** Sees every decision before the driver goes on; throws when something is wrong with it. */
export type Observer = (before: RunState, input: RunInput, decision: Decision) => void;

/**
 * Drives one run the way the engine's runner does, with a virtual clock, an in-memory log in text form and
 * nothing else: decide, log, go on with the decided state. `crash` goes on with what the log gives back.
 */
export class RunDriver {
  state: RunState = newRun(key, epoch);
  now = epoch;
  signs: Signs = { ...noSigns, absentSince: epoch };
  readonly log: string[] = [];
  readonly #observe: Observer;

  constructor(observe: Observer = () => {}) {
    this.#observe = observe;
  }

  /** A driver in the same place, for looking ahead without walking there. */
  fork(observe?: Observer): RunDriver {
    const fork = new RunDriver(observe);
    fork.state = this.state;
    fork.now = this.now;
    fork.signs = this.signs;
    fork.log.push(...this.log);
    return fork;
  }

  get world(): World {
    return { now: this.now, signs: this.signs, logic: toyLogic, limits: toyLimits };
  }

  get wanted(): Wanted {
    return wanted(this.state, this.signs, toyLimits);
  }

  /** Gives the run one input and goes on with what was decided. */
  give(input: RunInput): Decision {
    const before = this.state;
    const decision = decide(before, input, this.world);
    this.#observe(before, input, decision);
    for (const { record, at } of decision.records) this.log.push(encodeEntry({ record, at }));
    this.state = decision.state;
    return decision;
  }

  /** Hands in an append as the client's transport would. */
  append(number: number | "next", message: ToyMessage, alsoSeen: readonly number[] = []): Decision {
    return this.give({ kind: "append", number, ...message, alsoSeen, options: toyOptions });
  }

  /** Reports something of the running pass. */
  pass(event: PassEvent): Decision {
    this.signs = { ...this.signs, passAt: this.now };
    return this.give({ kind: "pass", pass: this.state.passes, event });
  }

  subscribe(): void {
    this.signs = { ...this.signs, subscribers: this.signs.subscribers + 1, absentSince: null, everSubscribed: true };
  }

  unsubscribe(): void {
    const subscribers = Math.max(0, this.signs.subscribers - 1);
    const absentSince = subscribers === 0 ? (this.signs.absentSince ?? this.now) : null;
    this.signs = { ...this.signs, subscribers, absentSince };
  }

  /** The deadline that comes first; ties in the order the core names them. */
  nextDeadline(): Deadline | undefined {
    return this.wanted.deadlines.reduce<Deadline | undefined>(
      (first, one) => (first && first.at <= one.at ? first : one),
      undefined,
    );
  }

  /** Lets the time pass until the next deadline and fires its timer. */
  fireNext(): Decision | undefined {
    const due = this.nextDeadline();
    if (!due) return undefined;
    this.now = Math.max(this.now, due.at);
    return this.give({ kind: "timer", timer: due.name });
  }

  /** The state that the log alone gives. */
  refold(): RunState {
    return this.log.reduce(
      (state, text) => {
        const { record, at } = decodeEntry(text);
        return evolve(state, record, at);
      },
      newRun(key, epoch),
    );
  }

  /** The process dies and another takes the run over: state and signs are gone, the log is there. */
  crash(downMs = 0): Decision {
    const state = this.refold();
    if (canonical(state) !== canonical(this.state)) throw new Error("The folded log is not the live state.");
    this.now += downMs;
    this.state = state;
    this.signs = { ...noSigns, absentSince: this.now };
    return this.give({ kind: "taken-over" });
  }
}
