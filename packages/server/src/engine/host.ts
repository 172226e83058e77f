import type { AgentClientMessage } from "@keyturn/protocol/agent";
import type { Answer } from "../run/answer.js";
import { isSignOfLife, startsRun } from "../run/decide-message.js";
import type { RecordDraft } from "../run/draft.js";
import { type Fault, FaultError, fault } from "../run/faults.js";
import { type Position, type RunKey, runName } from "../run/ids.js";
import { outcomeOf } from "../run/phases.js";
import type { RunOptions } from "../run/records.js";
import { classify } from "../run/sequence.js";
import { newRun, type RunState } from "../run/state.js";
import { DeltaTick } from "./delta-tick.js";
import { firstFence } from "./ports.js";
import { foldRun } from "./run-details.js";
import { Runner, type RunnerServices } from "./runner.js";
import type { Subscription } from "./subscription.js";

/** One append as it arrives from a transport. */
export interface Append {
  readonly requestId: string;
  readonly number: number | "next";
  readonly bytes: Uint8Array;
  readonly options: RunOptions;
}

/** A run as lists and status pages show it. */
export interface RunSummary {
  readonly key: RunKey;
  readonly conversationId: string | null;
  readonly model: string | null;
  readonly phase: string;
  readonly createdAt: number;
  readonly subscribers: number;
}

/** How long an ended run without readers stays in memory; afterwards it is read from the log again. */
const keepEndedMs = 30_000;

/**
 * All runs of this server: finds the run a request id means, loads it from the log, and brings back the runs a
 * former process left (D1). The only way in for transports.
 */
export class RunHost {
  readonly #runs = new Map<string, Promise<Runner>>();
  readonly #live = new Map<string, Runner>();
  readonly #byConversation = new Map<string, Runner>();
  /** Heartbeat numbers since the append stored before, by run. */
  readonly #heartbeats = new WeakMap<Runner, number[]>();
  readonly #services: RunnerServices;
  readonly #tick: DeltaTick;
  #stopping = false;

  constructor(services: RunnerServices) {
    this.#services = services;
    this.#tick = new DeltaTick(services.clock);
  }

  /** Takes over every run that has no end. Damaged ones are reported and left alone (D3). */
  async recover(): Promise<void> {
    for (const run of await this.#services.log.unfinished()) {
      await this.#runner(run.key.requestId).catch((error: unknown) =>
        this.#services.reports.problem("a run could not be taken over", run.key, error),
      );
    }
  }

  /**
   * Accepts an append; resolves once it is on disk (T1). Throws FaultError for bytes that are no message and for
   * refused appends; a repetition or a late answer resolves without effect (A2, C2).
   */
  async append(append: Append): Promise<Answer> {
    const message = this.#services.codec.decodeClientMessage(append.bytes);
    let runner = await this.#runner(append.requestId);
    if (isSignOfLife(message)) return this.#heartbeat(runner, append.number, message);
    const hash = this.#services.codec.hash(append.bytes);
    if (this.#opensGeneration(runner.state, append, message, hash)) {
      runner = await this.#nextGeneration(append.requestId, runner);
    }
    if (this.#stopping && runner.state.position === 0) throw new FaultError(stopping());
    const { bytes, number, options } = append;
    const alsoSeen = this.#heartbeats.get(runner) ?? [];
    this.#heartbeats.delete(runner);
    const answer = await runner.post({ kind: "append", number, hash, bytes, message, alsoSeen, options });
    // An append that left no record has not noted the heartbeats it was to carry.
    if (answer.kind !== "accepted") this.#noteHeartbeats(runner, alsoSeen);
    this.#fillGap(runner);
    if (answer.kind === "refused") throw new FaultError(answer.fault);
    return answer;
  }

  /** Starts reading a run's frames after a position; a run nobody has appended to yet is waited for (R3). */
  async subscribe(requestId: string, after: Position = 0): Promise<Subscription> {
    const runner = await this.#runner(requestId);
    return runner.subscribe(after);
  }

  /** Cancels a live run. False when there is none. */
  async cancel(requestId: string, cause: Fault): Promise<boolean> {
    const runner = await this.#runs.get(requestId);
    if (!runner || outcomeOf(runner.state.phase)) return false;
    await runner.post({ kind: "cancel", fault: cause });
    return true;
  }

  /** The runs in memory, newest first. */
  list(): readonly RunSummary[] {
    return [...this.#live.values()].reverse().map((runner) => ({
      key: runner.key,
      conversationId: runner.state.request?.conversationId ?? null,
      model: runner.state.request?.model ?? null,
      phase: runner.state.phase.kind,
      createdAt: runner.state.createdAt,
      subscribers: runner.subscribers,
    }));
  }

  /**
   * Stops: no new runs; every live one writes its checkpoint and ends so that its client may try again (D5).
   * Resolves when all have ended or the time is up; then the rest is left as the log has it.
   */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    const live = [...this.#live.values()].filter((runner) => !outcomeOf(runner.state.phase));
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    const ends = live.map(async (runner) => {
      await runner.post({ kind: "stop" }).catch(() => undefined);
      await runner.retired;
    });
    await Promise.race([Promise.all(ends), timeUp]);
    clearTimeout(timer);
    for (const runner of live) if (!outcomeOf(runner.state.phase)) runner.abandon();
  }

  #heartbeat(runner: Runner, number: number | "next", message: AgentClientMessage): Answer {
    const of = message.message;
    if (of.case === "execClientControlMessage" && of.value.message.case === "heartbeat") {
      runner.execAlive(of.value.message.value.id);
    }
    if (typeof number !== "number" || outcomeOf(runner.state.phase)) return { kind: "accepted" };
    this.#noteHeartbeats(runner, [number]);
    this.#fillGap(runner);
    return { kind: "accepted" };
  }

  #noteHeartbeats(runner: Runner, numbers: readonly number[]): void {
    if (numbers.length === 0) return;
    this.#heartbeats.set(runner, [...(this.#heartbeats.get(runner) ?? []), ...numbers]);
  }

  /** An append that overtook a heartbeat waits for its number: it is told at once, not with the next append. */
  #fillGap(runner: Runner): void {
    const numbers = this.#heartbeats.get(runner);
    if (!numbers || runner.state.sequence.gapSince === null) return;
    this.#heartbeats.delete(runner);
    void runner.offer({ kind: "numbers", numbers });
  }

  /** A request id whose run is at rest may be used again, with numbers from the start (A3, I-01). */
  #opensGeneration(state: RunState, append: Append, message: AgentClientMessage, hash: string): boolean {
    if (!outcomeOf(state.phase) || !startsRun(message) || append.number === "next") return false;
    return append.number <= 1 && classify(state.sequence, append.number, hash) !== "duplicate";
  }

  async #nextGeneration(requestId: string, ended: Runner): Promise<Runner> {
    const current = await this.#runner(requestId);
    // Another append of the same restart was faster.
    if (current !== ended) return current;
    const key = { requestId, generation: ended.key.generation + 1 };
    const runner = this.#adopt(newRun(key, this.#services.clock.now()), firstFence, false);
    this.#runs.set(requestId, Promise.resolve(runner));
    return runner;
  }

  #runner(requestId: string): Promise<Runner> {
    const known = this.#runs.get(requestId);
    if (known) return known;
    const loading = this.#load(requestId);
    this.#runs.set(requestId, loading);
    loading.catch(() => this.#runs.delete(requestId));
    return loading;
  }

  async #load(requestId: string): Promise<Runner> {
    const row = await this.#services.log.newest(requestId);
    if (!row) {
      if (this.#stopping) throw new FaultError(stopping());
      return this.#adopt(newRun({ requestId, generation: 0 }, this.#services.clock.now()), firstFence, false);
    }
    const fence = row.ended ? row.fence : await this.#services.log.claim(row.key);
    const runner = this.#adopt(await foldRun(this.#services.log, row), fence, true);
    if (!row.ended) await runner.post({ kind: "taken-over" });
    return runner;
  }

  #adopt(state: RunState, fence: number, opened: boolean): Runner {
    const runner = new Runner({ state, fence, opened }, this.#services, this.#tick, (of, records) =>
      this.#noteRecords(of, records),
    );
    this.#live.set(runName(state.key), runner);
    if (state.request && !outcomeOf(state.phase)) this.#byConversation.set(state.request.conversationId, runner);
    void runner.retired.then(() => this.#afterRetired(runner));
    return runner;
  }

  #noteRecords(runner: Runner, records: readonly RecordDraft[]): void {
    for (const { record } of records) {
      if (record.kind !== "run-accepted") continue;
      this.#services.reports.runStarted(runner.key);
      const former = this.#byConversation.get(record.conversationId);
      this.#byConversation.set(record.conversationId, runner);
      // The newer run supersedes; nobody waits for the older one, so two of them cannot wait for each other (R7, W29).
      if (former && former !== runner && !outcomeOf(former.state.phase)) {
        const cause = fault("run/superseded", "A newer message of the same conversation replaced this run.");
        void former.offer({ kind: "cancel", fault: cause });
      }
    }
  }

  #afterRetired(runner: Runner): void {
    const conversationId = runner.state.request?.conversationId;
    if (conversationId && this.#byConversation.get(conversationId) === runner)
      this.#byConversation.delete(conversationId);
    const ended = outcomeOf(runner.state.phase) !== undefined;
    if (!ended) return this.#forget(runner, !this.#stopping);
    const again = () => {
      if (runner.subscribers > 0)
        return void this.#services.clock.wakeAt(this.#services.clock.now() + keepEndedMs, again);
      this.#forget(runner, false);
    };
    this.#services.clock.wakeAt(this.#services.clock.now() + keepEndedMs, again);
  }

  /** A run whose records could not be stored is taken up again from the log once the disk may be writable. */
  #forget(runner: Runner, retry: boolean): void {
    const { requestId } = runner.key;
    this.#live.delete(runName(runner.key));
    void this.#runs.get(requestId)?.then((current) => {
      if (current !== runner) return;
      this.#runs.delete(requestId);
      if (!retry) return;
      this.#services.clock.wakeAt(this.#services.clock.now() + 1_000, () => {
        void this.#runner(requestId).catch((error: unknown) =>
          this.#services.reports.problem("a run could not be taken up again", runner.key, error),
        );
      });
    });
  }
}

function stopping(): Fault {
  return fault("server/stopping", "The server is stopping and takes no new runs. Try again in a moment.");
}
