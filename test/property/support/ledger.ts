import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { Decision } from "../../../packages/server/src/run/decide.js";
import { isKv } from "../../../packages/server/src/run/decide-message.js";
import type { RecordDraft } from "../../../packages/server/src/run/draft.js";
import { evolve } from "../../../packages/server/src/run/evolve.js";
import type { RunInput } from "../../../packages/server/src/run/inputs.js";
import { type Outcome, outcomeOf } from "../../../packages/server/src/run/phases.js";
import type { Channel, RecordKind } from "../../../packages/server/src/run/records.js";
import type { RunState } from "../../../packages/server/src/run/state.js";
import { canonical } from "./encoding.js";
import { toyLimits } from "./run-driver.js";
import { SequenceModel } from "./sequence-model.js";

interface CallEntry {
  readonly complete: boolean;
  closed: boolean;
}

interface ExecEntry {
  readonly execId: string;
  readonly callId: string | null;
  outcomes: number;
  closed: boolean;
}

/**
 * The model: its own account of one run, kept from records and frames alone and simple enough to be believed.
 * Every rule of DESIGN.md that is about what may follow what is checked here, record by record.
 */
export class Ledger {
  readonly seen = new Set<RecordKind>();
  readonly sequence = new SequenceModel();
  runningPass: number | null = null;
  finishing: Outcome | null = null;
  ended = false;
  /** Inputs seen after the end. */
  late = 0;
  readonly #said: Record<Channel, string> = { text: "", thinking: "" };
  readonly #calls = new Map<string, CallEntry>();
  readonly #execs = new Map<number, ExecEntry>();
  readonly #modelCalls = new Set<string>();
  readonly #held = new Set<string>();
  readonly #kvs = new Map<number, { readonly blobId: string; answered: boolean }>();
  #accepted = false;
  #projected: { readonly revision: number; readonly needs: readonly string[] } | null = null;
  #published = 0;
  #settledLast = false;
  #passes = 0;
  #cuts = 0;
  #block: Channel | null = null;
  #asked = 0;

  /** Checks one decision against everything that was decided before. */
  observe(before: RunState, input: RunInput, decision: Decision): void {
    this.#checkAnswer(before, input, decision);
    if (this.ended) this.late += 1;
    if (input.kind === "append") this.sequence.arrive(input, before, isKv(input.message));
    let state = before;
    decision.records.forEach((draft, index) => {
      assert.equal(this.ended, false, "nothing follows the end");
      this.seen.add(draft.record.kind);
      this.#take(draft, decision.records[index + 1]);
      const next = evolve(state, draft.record, draft.at);
      assert.equal(next.position, state.position + 1, "positions count up by one");
      state = next;
    });
    assert.ok(isDeepStrictEqual(state, decision.state), "folding the records gives the decided state");
    this.#checkText(decision.state);
    this.sequence.rest(outcomeOf(decision.state.phase) !== undefined);
    assert.equal(outcomeOf(decision.state.phase) !== undefined, this.ended, "terminal exactly when ended");
  }

  /** Whether an execution waits for its outcome, or for its close. */
  get unclosedExec(): boolean {
    return [...this.#execs.values()].some((exec) => !exec.closed);
  }

  /** Whether a blob message waits for its answer. */
  get openKv(): boolean {
    return [...this.#kvs.values()].some((kv) => !kv.answered);
  }

  #checkAnswer(before: RunState, input: RunInput, { answer, records }: Decision): void {
    if (answer.kind !== "accepted") assert.deepEqual(records, [], `${answer.kind} inputs leave no record`);
    if (this.ended) assert.notEqual(answer.kind, "accepted", "nothing is accepted after the end");
    if (input.kind === "append")
      assert.equal(answer.kind, this.sequence.expect(input, before, this.ended), "the answer");
    if (input.kind === "pass" && input.pass !== this.runningPass) {
      assert.equal(answer.kind, "late", "a report of a pass that is not running is late");
    }
  }

  #take(draft: RecordDraft, next: RecordDraft | undefined): void {
    const { record, frame } = draft;
    const shown = frameName(draft);
    if (shown === "turnEnded") {
      assert.equal(next?.record.kind, "ended", "turn_ended is followed by the end");
    }
    switch (record.kind) {
      case "append-stored":
        return this.sequence.stored(record);
      case "append-applied":
        return this.sequence.applied(record.number);
      case "numbers-seen":
        return this.sequence.heard(record.numbers);
      case "gap-passed":
        return this.sequence.gapPassed(record.upTo);
      case "run-accepted":
        this.#notFinishing();
        assert.equal(this.#accepted, false, "a run is accepted once");
        this.#accepted = true;
        for (const blob of record.held) this.#held.add(blob);
        return;
      case "pass-started":
        this.#notFinishing();
        assert.equal(this.runningPass, null, "one pass at a time");
        assert.equal(shown, "stepStarted");
        assert.deepEqual(openOnes(this.#calls), [], "every call has its result before the next pass (I-31)");
        assert.equal(this.#asked, 0, "no pass while blobs are asked for");
        assert.equal(this.#modelCalls.has(record.modelCallId), false, "a pass is not made twice");
        this.#modelCalls.add(record.modelCallId);
        assert.equal(record.pass, this.#passes + 1, "passes count up by one");
        assert.ok(this.#cuts <= toyLimits.maxInterruptions, "a pass that is always cut is given up");
        this.runningPass = record.pass;
        return;
      case "pass-ended":
        assert.equal(this.runningPass, record.pass, "only the running pass ends");
        assert.equal(this.#block, null, "what a pass was writing is kept before it ends");
        this.runningPass = null;
        this.#cuts = record.reason === "interrupted" ? this.#cuts + 1 : 0;
        this.#passes = record.pass;
        return;
      case "text-added":
        assert.notEqual(this.runningPass, null, "only a running pass speaks");
        assert.equal(
          canonical(frame),
          canonical(delta(record.channel, record.text)),
          "what is logged is what is shown",
        );
        this.#said[record.channel] += record.text;
        this.#block = record.channel;
        return;
      case "block-closed":
        // Provider data may come without text while the other block is open, which then goes on.
        if (this.#block && record.channel !== this.#block) assert.ok(record.provider, "only data closes no block");
        else this.#block = null;
        return;
      case "call-opened":
        assert.notEqual(this.runningPass, null, "only a running pass calls");
        assert.equal(shown, "toolCallStarted");
        assert.equal(this.#calls.has(record.callId), false, "call ids are unique");
        this.#calls.set(record.callId, { complete: record.complete, closed: false });
        return;
      case "call-closed": {
        const call = this.#calls.get(record.callId);
        assert.equal(call?.closed, false, "a call is opened before it is closed, and closed once");
        assert.equal(shown, "toolCallCompleted");
        const open = [...this.#execs.values()].filter((exec) => exec.callId === record.callId && exec.outcomes === 0);
        assert.deepEqual(open, [], "a call is closed after its executions have their outcome");
        if (call) call.closed = true;
        return;
      }
      case "exec-opened": {
        this.#notFinishing();
        assert.equal(shown, "execServerMessage");
        assert.equal(this.#execs.has(record.exec), false, "exec ids are unique");
        const texts = [...this.#execs.values()].map((exec) => exec.execId);
        assert.equal(texts.includes(record.execId), false, "text exec ids are unique");
        if (record.callId !== null) {
          const call = this.#calls.get(record.callId);
          assert.equal(call?.closed, false, "a finished call is never issued again");
          assert.equal(call?.complete, true, "a call that was cut is never executed (I-99)");
        }
        this.#execs.set(record.exec, { execId: record.execId, callId: record.callId, outcomes: 0, closed: false });
        return;
      }
      case "exec-output":
        assert.equal(this.#execs.get(record.exec)?.outcomes, 0, "output belongs to an open execution");
        assert.equal(shown, "shellOutputDelta");
        return;
      case "exec-answered": {
        const exec = this.#execs.get(record.exec);
        assert.equal(exec?.outcomes, 0, "an execution has one outcome");
        if (exec) exec.outcomes += 1;
        return;
      }
      case "exec-closed": {
        const exec = this.#execs.get(record.exec);
        assert.deepEqual([exec?.outcomes, exec?.closed], [1, false], "closed once, after the outcome");
        if (exec) exec.closed = true;
        return;
      }
      case "blob-asked":
        this.#notFinishing();
        this.#newKv(record.kv, record.blobId);
        this.#asked += 1;
        return;
      case "blob-received":
        if (record.found) this.#held.add(this.#answerKv(record.kv));
        else this.#answerKv(record.kv);
        this.#asked -= 1;
        return;
      case "blob-offered":
        return this.#newKv(record.kv, record.blobId);
      case "blob-confirmed": {
        const blobId = this.#answerKv(record.kv);
        if (record.ok) this.#held.add(blobId);
        return;
      }
      case "checkpoint-projected":
        assert.equal(this.#projected, null, "one checkpoint at a time");
        this.#projected = { revision: record.revision, needs: record.needs };
        return;
      case "checkpoint-published":
        assert.equal(this.#projected?.revision, record.revision, "only what was projected is published");
        assert.ok(record.revision > this.#published, "a revision is published once, in order");
        for (const blob of this.#projected?.needs ?? []) assert.ok(this.#held.has(blob), "no dangling blob (I-46)");
        assert.equal(shown, "encoded");
        this.#published = record.revision;
        this.#projected = null;
        this.#settledLast = this.finishing !== null;
        return;
      case "checkpoint-dropped":
        this.#settledLast = this.finishing !== null;
        if (this.#projected && record.revision >= this.#projected.revision) this.#projected = null;
        return;
      case "finishing":
        assert.equal(this.runningPass, null, "no pass runs on into the end");
        if (this.finishing) {
          const pair = [this.finishing.kind, record.outcome.kind];
          assert.deepEqual(pair, ["completed", "canceled"], "only a cancel overtakes, and only a completion");
        }
        this.finishing = record.outcome;
        this.#settledLast = false;
        return;
      case "ended":
        assert.deepEqual(record.outcome, this.finishing, "the end is the one that was announced");
        assert.deepEqual(openOnes(this.#calls), [], "every call is closed before the end");
        assert.equal(this.#settledLast, this.#accepted, "the end waits for the last checkpoint (W8)");
        assert.deepEqual(openOnes(this.#execs), [], "every execution is closed before the end (P8)");
        this.ended = true;
        return;
      default:
        return;
    }
  }

  #notFinishing(): void {
    assert.equal(this.finishing, null, "a finishing run begins nothing");
  }

  #newKv(kv: number, blobId: string): void {
    assert.equal(this.#kvs.has(kv), false, "kv ids are unique");
    this.#kvs.set(kv, { blobId, answered: false });
  }

  #answerKv(kv: number): string {
    const one = this.#kvs.get(kv);
    assert.equal(one?.answered, false, "a blob message is answered once");
    if (!one) return "";
    one.answered = true;
    return one.blobId;
  }

  #checkText(state: RunState): void {
    for (const channel of ["text", "thinking"] as const) {
      const kept = state.turn.map((entry) => (entry.kind === channel ? entry.text : "")).join("");
      const open = state.block?.channel === channel ? state.block.text : "";
      assert.equal(kept + open, this.#said[channel], "what was shown is what is kept, nothing taken back or doubled");
    }
  }
}

/** A decision is a function of its arguments: asked again it is the same, and it changes nothing it was given. */
export function checkPure(before: RunState, input: RunInput, decision: Decision, again: () => Decision): void {
  const kept = canonical(before);
  assert.equal(summary(again()), summary(decision), `deciding ${input.kind} twice is deciding once`);
  assert.equal(canonical(before), kept, "deciding changes nothing");
}

function summary(decision: Decision): string {
  return canonical([decision.answer, decision.records.map(({ record, at }) => ({ record, at })), decision.state]);
}

function delta(channel: Channel, text: string): unknown {
  const message = { case: channel === "text" ? "textDelta" : "thinkingDelta", value: { text } };
  return { message: { case: "interactionUpdate", value: { message } } };
}

function openOnes<K>(entries: ReadonlyMap<K, { readonly closed: boolean }>): K[] {
  return [...entries].filter(([, entry]) => !entry.closed).map(([key]) => key);
}

/** The innermost case of a record's frame, `encoded` for bytes, undefined without one. */
export function frameName({ frame }: RecordDraft): string | undefined {
  if (!frame) return undefined;
  if ("encoded" in frame) return "encoded";
  const of = frame.message;
  return of?.case === "interactionUpdate" ? of.value.message?.case : of?.case;
}
