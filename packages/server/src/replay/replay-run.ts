import type { Codec } from "../engine/ports.js";
import { decodeRecord, encodeRecord } from "../engine/record-codec.js";
import { decide } from "../run/decide.js";
import type { RecordDraft } from "../run/draft.js";
import { evolve } from "../run/evolve.js";
import type { Json, Position } from "../run/ids.js";
import type { RunLogic } from "../run/logic.js";
import { newRun, type RunState } from "../run/state.js";
import { type Difference, frameDifference, jsonDifference } from "./describe-difference.js";
import { type Attempt, inferInputs, type Recorded } from "./infer-inputs.js";
import { keyOf, type RunFile } from "./run-file.js";

/** What a replay needs of the rest of the server: the code under test. */
export interface ReplayServices {
  readonly logic: RunLogic;
  readonly encode: Codec["encodeServerMessage"];
}

/** Where the core decided otherwise than the log says. */
export interface Mismatch extends Difference {
  readonly position: Position;
  /** Kind of the recorded record. */
  readonly kind: string;
  /** The input that was fed, or "none" when no input is known to begin with such a record. */
  readonly input: string;
}

/** What came of a replay. */
export interface ReplayResult {
  /** Records whose kind and frame were the same. */
  readonly records: number;
  readonly frames: number;
  readonly inputs: number;
  /**
   * Records with the same kind and frame and another content: no client could tell. None for a redacted file, whose
   * hashes no longer fit.
   */
  readonly otherContent: readonly Position[];
  /** The first mismatch; nothing after it was replayed. */
  readonly mismatch?: Mismatch;
}

interface Trial {
  readonly length: number;
  readonly otherContent: readonly Position[];
  readonly mismatch?: Mismatch;
}

/**
 * Feeds the inputs that a log holds to the core, with the recorded times, and compares every frame byte for byte.
 * Each step starts from the state that the recorded records give, so the first mismatch is where the cause is.
 * Throws FaultError `run/unreadable` for records of a newer version.
 */
export function replayRun(file: RunFile, services: ReplayServices): ReplayResult {
  const replay = new Replay(file, services);
  let state = newRun(keyOf(file.header), file.header.createdAt);
  let inputs = 0;
  const otherContent: Position[] = [];
  const done = (records: number) => ({
    records,
    frames: file.records.slice(0, records).filter(({ frame }) => frame !== null).length,
    inputs,
    otherContent,
  });
  for (let from = 0; from < replay.log.length; ) {
    const trial = replay.step(state, from);
    if (trial.mismatch) return { ...done(trial.mismatch.position - 1), mismatch: trial.mismatch };
    if (file.header.redactions === 0) otherContent.push(...trial.otherContent);
    for (const { record, at } of replay.log.slice(from, from + trial.length)) state = evolve(state, record, at);
    from += trial.length;
    inputs += 1;
  }
  return done(replay.log.length);
}

class Replay {
  readonly log: readonly Recorded[];
  readonly #file: RunFile;
  readonly #services: ReplayServices;
  readonly #logic: RunLogic;

  constructor(file: RunFile, services: ReplayServices) {
    this.#file = file;
    this.#services = services;
    this.log = file.records.map((stored) => ({ record: decodeRecord(stored), at: stored.at, frame: stored.frame }));
    this.#logic = file.header.redactions > 0 ? trustBlobs(services.logic, this.log) : services.logic;
  }

  /** The first input that leads to exactly what the log says; else the one that comes furthest. */
  step(state: RunState, from: number): Trial {
    let best: Trial | undefined;
    for (const attempt of this.#attempts(state, from)) {
      const trial = this.#try(state, from, attempt);
      if (!trial.mismatch && trial.otherContent.length === 0) return trial;
      if (!best || isBetter(trial, best)) best = trial;
    }
    return best ?? this.#nothing(from);
  }

  #attempts(state: RunState, from: number): readonly Attempt[] {
    return inferInputs(state, this.log, from, (bytes) => this.#logic.decode(bytes));
  }

  #try(state: RunState, from: number, { input, signs, limits }: Attempt): Trial {
    const name = input.kind === "pass" ? `pass ${input.event.kind}` : input.kind === "timer" ? input.timer : input.kind;
    const now = this.log[from]?.at ?? 0;
    const { records } = decide(state, input, { now, signs, logic: this.#logic, limits });
    const otherContent: Position[] = [];
    for (const [index, draft] of records.entries()) {
      const mismatch = this.#compare(from + index, draft, otherContent);
      if (mismatch) return { length: index, otherContent, mismatch: { ...mismatch, input: name } };
    }
    return records.length === 0 ? this.#nothing(from, name) : { length: records.length, otherContent };
  }

  #compare(at: number, draft: RecordDraft, otherContent: Position[]): Omit<Mismatch, "input"> | undefined {
    const stored = this.#file.records[at];
    const { kind, body, payload } = encodeRecord(draft.record);
    const position = at + 1;
    if (stored?.kind !== kind) {
      const recorded = stored ? stored.kind : "the end of the log";
      return { position, kind: recorded, field: "kind", recorded, replayed: kind };
    }
    const { frame } = draft;
    const bytes = frame ? ("encoded" in frame ? frame.encoded : this.#services.encode(frame)) : null;
    const difference = frameDifference(stored.frame, bytes);
    if (difference) return { position, kind, ...difference, field: ["frame", difference.field].join(" ").trim() };
    // By way of text, as the log keeps it.
    const sameBody = !jsonDifference(stored.body, JSON.parse(JSON.stringify(body)) as Json);
    if (!sameBody || frameDifference(stored.payload, payload)) otherContent.push(position);
    return undefined;
  }

  #nothing(from: number, input = "none"): Trial {
    const kind = this.log[from]?.record.kind ?? "";
    const mismatch = { position: from + 1, kind, input, field: "kind", recorded: kind, replayed: "nothing" };
    return { length: 0, otherContent: [], mismatch };
  }
}

function isBetter(trial: Trial, than: Trial): boolean {
  if (!trial.mismatch || !than.mismatch) return !trial.mismatch && than.mismatch !== undefined;
  return trial.length > than.length;
}

/** A redacted blob is not what its name says; whether it was is in the log. */
function trustBlobs(logic: RunLogic, log: readonly Recorded[]): RunLogic {
  const names = new Map(
    log.flatMap(({ record }) => (record.kind === "blob-asked" ? [[record.kv, record.blobId]] : [])),
  );
  const received = new Set(
    log.flatMap(({ record }) => (record.kind === "blob-received" && record.found ? [names.get(record.kv)] : [])),
  );
  return { ...logic, isBlob: (id, bytes) => received.has(id) || logic.isBlob(id, bytes) };
}
