import type { Answer } from "../run/answer.js";
import { decide } from "../run/decide.js";
import type { RecordDraft, World } from "../run/draft.js";
import { FaultError, fault } from "../run/faults.js";
import type { Position, RunKey } from "../run/ids.js";
import { noSigns, type RunInput, type Signs } from "../run/inputs.js";
import type { CoreLimits } from "../run/limits.js";
import type { RunLogic } from "../run/logic.js";
import { outcomeOf } from "../run/phases.js";
import type { RunState } from "../run/state.js";
import { type Deadline, wanted } from "../run/wanted.js";
import { coalesce } from "./coalesce.js";
import type { DeltaTick } from "./delta-tick.js";
import { RunningEffects } from "./effects.js";
import type { Clock, Codec, EngineReports, LogFrame, LogRecord, RunLog, TurnEffects } from "./ports.js";
import { encodeRecord } from "./record-codec.js";
import { Subscription } from "./subscription.js";
import { Tail } from "./tail.js";

/** What every run of a server shares. */
export interface RunnerServices {
  readonly log: RunLog;
  readonly logic: RunLogic;
  readonly turn: TurnEffects;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly limits: CoreLimits;
  readonly reports: EngineReports;
  readonly heartbeatMs: number;
}

interface Letter {
  readonly input: RunInput;
  readonly settle?: { resolve(answer: Answer): void; reject(error: unknown): void };
}

/** Whether an input only goes on with the block that readers see already. */
function goesOn({ block }: RunState, input: RunInput): boolean {
  return input.kind === "pass" && input.event.kind === "delta" && input.event.channel === block?.channel;
}

/** Letters above which senders that can wait are made to wait. */
const mailboxRoom = 512;

/**
 * The shell round one run: a mailbox that lets one input at a time have its effect (R2). Decide, append to the log,
 * evolve, publish, reconcile: nobody sees an effect whose record is not on disk (DESIGN.md).
 */
export class Runner {
  readonly key: RunKey;
  /** Resolves when this runner will write nothing any more: the run ended, or another owner took it. */
  readonly retired: Promise<void>;
  #retire: () => void = () => {};
  #state: RunState;
  readonly #fence: number;
  #opened: boolean;
  #mailbox: Letter[] = [];
  /** The mailbox holds something that does not wait for the tick. */
  #urgent = false;
  #busy = false;
  #abandoned = false;
  #room: (() => void)[] = [];
  #signs: Signs = noSigns;
  #tail: Tail;
  #forgetTimer: (() => void) | undefined;
  #armedAt = Number.POSITIVE_INFINITY;
  readonly #subscriptions = new Set<Subscription>();
  readonly #services: RunnerServices;
  readonly #tick: DeltaTick;
  readonly #wakeUp = () => this.#start();
  readonly #effects: RunningEffects;
  readonly #onRecords: (runner: Runner, records: readonly RecordDraft[]) => void;

  constructor(
    start: { state: RunState; fence: number; opened: boolean },
    services: RunnerServices,
    tick: DeltaTick,
    onRecords: (runner: Runner, records: readonly RecordDraft[]) => void,
  ) {
    this.key = start.state.key;
    this.#state = start.state;
    this.#fence = start.fence;
    this.#opened = start.opened;
    this.#services = services;
    this.#tick = tick;
    this.#onRecords = onRecords;
    this.#tail = new Tail(start.state.position);
    this.#signs = { ...noSigns, absentSince: services.clock.now() };
    this.retired = new Promise((resolve) => {
      this.#retire = resolve;
    });
    this.#effects = new RunningEffects(services.turn, {
      offer: (input) => this.offer(input),
      deliver: (input) => this.post(input),
      projectionDone: () => {
        if (!outcomeOf(this.#state.phase)) this.#reconcile();
      },
      passAlive: () => {
        this.#signs = { ...this.#signs, passAt: services.clock.now() };
      },
      problem: (what, cause) => services.reports.problem(what, this.key, cause),
    });
    // Nothing is started here: a run that was loaded first notes its change of owner, which closes a cut pass.
    if (outcomeOf(start.state.phase)) this.#retire();
    else this.#arm(wanted(this.#state, this.#signs, services.limits).deadlines);
  }

  get state(): RunState {
    return this.#state;
  }

  get subscribers(): number {
    return this.#subscriptions.size;
  }

  /** Puts an input in the mailbox; resolves with the answer once its records are on disk. */
  post(input: RunInput): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#put({ input, settle: { resolve, reject } });
    });
  }

  /** Puts an input in the mailbox; resolves as soon as there is room for another. */
  offer(input: RunInput): Promise<void> {
    this.#put({ input });
    if (this.#mailbox.length < mailboxRoom) return Promise.resolve();
    return new Promise((resolve) => this.#room.push(resolve));
  }

  /** Notes that an execution is alive; no record, no effect on the run (I9). */
  execAlive(exec: number): void {
    this.#signs = { ...this.#signs, execAt: new Map(this.#signs.execAt).set(exec, this.#services.clock.now()) };
  }

  /** Starts a reader after a position; 0 replays from the start. */
  subscribe(after: Position): Subscription {
    const subscription = new Subscription(this, after, this.#services.heartbeatMs, (gone) => {
      this.#subscriptions.delete(gone);
      this.#notePresence();
    });
    this.#subscriptions.add(subscription);
    this.#notePresence();
    return subscription;
  }

  /** Stops everything going on and lets its readers go, without a record: the log says where it stands. */
  abandon(): void {
    this.#abandoned = true;
    this.#effects.stop();
    this.#disarm();
    this.#retire();
    for (const subscription of this.#subscriptions) subscription.close();
  }

  /** Frames after a position: from memory where it reaches, else from the log. */
  async frames(after: Position, limit: number): Promise<readonly LogFrame[]> {
    const live = this.#tail.since(after, limit);
    if (live) return live;
    return this.#services.log.readFrames(this.key, after, limit);
  }

  #notePresence(): void {
    const subscribers = this.#subscriptions.size;
    const { absentSince, everSubscribed } = this.#signs;
    this.#signs = {
      ...this.#signs,
      subscribers,
      everSubscribed: everSubscribed || subscribers > 0,
      absentSince: subscribers > 0 ? null : (absentSince ?? this.#services.clock.now()),
    };
    if (!outcomeOf(this.#state.phase)) this.#arm(wanted(this.#state, this.#signs, this.#services.limits).deadlines);
  }

  #put(letter: Letter): void {
    this.#mailbox.push(letter);
    this.#urgent ||= !goesOn(this.#state, letter.input);
    if (this.#mayWait()) this.#tick.join(this.#wakeUp);
    else this.#start();
  }

  #mayWait(): boolean {
    return !this.#urgent && this.#mailbox.length < mailboxRoom;
  }

  #start(): void {
    if (this.#busy || this.#mailbox.length === 0) return;
    this.#busy = true;
    queueMicrotask(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    do {
      const letters = this.#mailbox;
      this.#mailbox = [];
      this.#urgent = false;
      for (const room of this.#room.splice(0)) room();
      await this.#handle(coalesce(letters));
    } while (this.#mailbox.length > 0 && !this.#mayWait());
    this.#busy = false;
    // The tick may have passed while the batch was being stored.
    if (this.#mailbox.length > 0) this.#tick.join(this.#wakeUp);
  }

  /** One batch: each input is decided on the state the one before left; all records are stored together. */
  async #handle(letters: readonly Letter[]): Promise<void> {
    const answers: (Answer | { error: unknown })[] = [];
    const drafts: RecordDraft[] = [];
    let state = this.#state;
    for (const { input } of letters) {
      try {
        const decision = decide(state, input, this.#world());
        answers.push(decision.answer);
        drafts.push(...decision.records);
        state = decision.state;
        if (isLate(decision.answer)) this.#services.reports.lateInput(input.kind);
      } catch (error) {
        this.#services.reports.problem("an input could not be decided", this.key, error);
        answers.push({ error });
      }
    }
    try {
      if (drafts.length > 0) await this.#commit(drafts, state);
    } catch (error) {
      for (const { settle } of letters) settle?.reject(error);
      return this.#afterFailedCommit(error);
    }
    letters.forEach(({ settle }, index) => {
      const answer = answers[index];
      if (!answer) return;
      if ("error" in answer)
        settle?.reject(
          new FaultError(
            fault("server/internal", "The message could not be handled. The server's log has the cause."),
            { cause: answer.error },
          ),
        );
      else settle?.resolve(answer);
    });
    this.#reconcile();
  }

  async #commit(drafts: readonly RecordDraft[], state: RunState): Promise<void> {
    const { log, codec } = this.#services;
    // In one tick, so that a run's opening and its first records share a commit. The append of a run that another
    // owner has begun meanwhile is refused: its fence or its positions do not fit.
    const opening = this.#opened ? undefined : log.open(this.key, this.#state.createdAt);
    let position = this.#state.position;
    const records: LogRecord[] = drafts.map(({ record, at, frame }) => {
      position += 1;
      const bytes = frame ? ("encoded" in frame ? frame.encoded : codec.encodeServerMessage(frame)) : null;
      return { position, fence: this.#fence, at, ...encodeRecord(record), frame: bytes };
    });
    const conversationId = state.request?.conversationId;
    const root = drafts.findLast((draft) => draft.newestRoot)?.newestRoot;
    const append = log.append({
      key: this.key,
      fence: this.#fence,
      records,
      blobs: drafts.flatMap((draft) => draft.blobs ?? []),
      // Said once: it costs the log more than a delta does.
      conversationId: this.#state.request ? undefined : conversationId,
      ended: outcomeOf(state.phase) !== undefined,
      newestRoot: root && conversationId ? { conversationId, root } : undefined,
    });
    await Promise.all([opening, append]);
    this.#opened = true;
    this.#state = state;
    this.#publish(records);
    this.#onRecords(this, drafts);
  }

  #publish(records: readonly LogRecord[]): void {
    let any = false;
    for (const { position, kind, body, frame } of records) {
      if (frame) this.#tail.push({ position, kind, body, frame });
      any ||= frame !== null;
    }
    const ended = outcomeOf(this.#state.phase);
    if (any || ended) for (const subscription of this.#subscriptions) subscription.signal();
    if (ended) {
      this.#services.reports.runEnded(this.key, ended.kind, this.#services.clock.now() - this.#state.createdAt);
      this.#retire();
    }
  }

  /** Memory never runs ahead of the log: what could not be stored has not happened. */
  #afterFailedCommit(error: unknown): void {
    this.#services.reports.problem("records could not be stored", this.key, error);
    this.abandon();
  }

  #reconcile(): void {
    // What could not be stored would only be tried again at once, for as long as the disk is full.
    if (this.#abandoned) return;
    const want = wanted(this.#state, this.#signs, this.#services.limits);
    this.#effects.reconcile(this.#state, want);
    this.#arm(want.deadlines);
  }

  #arm(deadlines: readonly Deadline[]): void {
    if (this.#abandoned) return;
    const first = deadlines.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
    // A timer that is set too early only looks and sets itself again; setting one for every delta would cost more.
    if (this.#armedAt <= first && Number.isFinite(first)) return;
    this.#disarm();
    if (!Number.isFinite(first)) return;
    this.#armedAt = first;
    this.#forgetTimer = this.#services.clock.wakeAt(first, () => this.#fire());
  }

  #disarm(): void {
    this.#forgetTimer?.();
    this.#forgetTimer = undefined;
    this.#armedAt = Number.POSITIVE_INFINITY;
  }

  #fire(): void {
    const { clock, limits } = this.#services;
    this.#disarm();
    const { deadlines } = wanted(this.#state, this.#signs, limits);
    const due = deadlines.filter((deadline) => deadline.at <= clock.now());
    for (const { name } of due) void this.offer({ kind: "timer", timer: name });
    if (due.length === 0) this.#arm(deadlines);
  }

  #world(): World {
    const { clock, logic, limits } = this.#services;
    return { now: clock.now(), signs: this.#signs, logic, limits };
  }
}

/** What came too late to matter, and is counted (C2). */
function isLate(answer: Answer): boolean {
  return answer.kind === "late" || (answer.kind === "accepted" && answer.late === true);
}
