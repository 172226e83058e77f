import { decodeServerMessage } from "@keyturn/protocol/codec";
import type { Fault } from "../run/faults.js";
import type { Blob, BlobId } from "../run/ids.js";
import { noSigns, type PassEvent, type RunInput, type Signs } from "../run/inputs.js";
import { type CoreLimits, defaultLimits } from "../run/limits.js";
import type { Outcome } from "../run/phases.js";
import type { RunOptions, RunRecord } from "../run/records.js";
import type { RunState } from "../run/state.js";

/** A record of the log, decoded. */
export interface Recorded {
  readonly record: RunRecord;
  readonly at: number;
  readonly frame: Uint8Array | null;
}

/** An input that may have led to what the log says next, and what of the world it needs. */
export interface Attempt {
  readonly input: RunInput;
  readonly signs: Signs;
  readonly limits: CoreLimits;
}

/** Nothing is refused for want of room: a refusal leaves no record. */
const roomy: CoreLimits = {
  ...defaultLimits,
  inboxCount: Number.POSITIVE_INFINITY,
  inboxBytes: Number.POSITIVE_INFINITY,
  maxInterruptions: Number.POSITIVE_INFINITY,
};

const never = Number.NEGATIVE_INFINITY;

/** A timer that fired had its time; the limits it was set by are not in the log, so with these each one has. */
const due: CoreLimits = {
  ...roomy,
  appendGapMs: never,
  gapAfterTakeoverMs: never,
  startMs: never,
  contextMs: never,
  execSilenceMs: never,
  execUnansweredMs: never,
  execCloseGraceMs: never,
  blobMs: never,
  passSilenceMs: never,
};

const somebody: Signs = { ...noSigns, subscribers: 1, everSubscribed: true };

/**
 * The inputs that can have led to the records from `from` on, the likeliest first; none when no input begins with such
 * a record. Most kinds say it themselves. What the log does not hold shows in what was decided: whether a client was
 * there to take blobs, which timer fired, how many cuts in a row are allowed.
 *
 * A block that something else closed is fed as if it had ended by itself: the records are the same.
 */
export function inferInputs(
  state: RunState,
  log: readonly Recorded[],
  from: number,
  decode: (bytes: Uint8Array) => (RunInput & { kind: "append" })["message"],
): readonly Attempt[] {
  const record = log[from]?.record;
  const pass = (event: PassEvent) => [
    attempt({ kind: "pass", pass: state.phase.kind === "provider_running" ? state.phase.pass : 0, event }),
  ];
  switch (record?.kind) {
    case "append-stored": {
      const { number, hash, bytes, alsoSeen } = record;
      const input = { kind: "append", number, hash, bytes, alsoSeen, message: decode(bytes) } as const;
      return [attempt({ ...input, options: optionsOf(log) })];
    }
    case "numbers-seen":
      return [attempt({ kind: "numbers", numbers: record.numbers })];
    case "gap-passed":
      return [timer("gap")];
    case "owner-changed":
      return [
        attempt({ kind: "taken-over" }),
        attempt({ kind: "taken-over" }, noSigns, { ...roomy, maxInterruptions: -1 }),
      ];
    case "text-added":
      return pass({ kind: "delta", channel: record.channel, text: record.text });
    case "block-closed":
      return pass({ kind: "block-ended", channel: record.channel, provider: record.provider });
    case "call-opened": {
      const { name, args, complete, provider } = record;
      return pass({ kind: "call", name, args, complete, provider });
    }
    case "pass-ended":
      return passEnds(record, log, from).flatMap((end) => ("code" in end ? cancel(end) : pass(end)));
    case "checkpoint-projected": {
      const { revision, root, frame } = record;
      const projection = { revision, root, frame, blobs: offeredBlobs(record.needs, log, from) };
      return [attempt({ kind: "projected", projection }, somebody), attempt({ kind: "projected", projection })];
    }
    case "checkpoint-dropped":
      return [attempt({ kind: "projection-failed", revision: record.revision, why: record.why }), timer("checkpoint")];
    case "blob-received":
      return [timer(`blob-ask:${record.kv}`)];
    case "exec-answered":
    case "exec-closed":
      return [timer(`exec-close:${record.exec}`)];
    case "notice": {
      const next = log.slice(from).find((one) => one.record.kind !== "notice")?.record;
      if (next?.kind === "exec-answered" && next.how === "silent") return [timer(`exec-silent:${next.exec}`)];
      return ended(outcomeAfter(log, from));
    }
    case "finishing":
      return ended(record.outcome);
    default:
      return [];
  }
}

function attempt(input: RunInput, signs = noSigns, limits = roomy): Attempt {
  return { input, signs, limits };
}

function timer(name: string): Attempt {
  return attempt({ kind: "timer", timer: name }, somebody, due);
}

function cancel(fault: Fault): Attempt[] {
  return [attempt({ kind: "cancel", fault })];
}

/** What ends a run from outside, while no model call is running. */
function ended(outcome: Outcome | undefined): Attempt[] {
  if (outcome?.kind === "canceled") return cancel(outcome.fault);
  if (outcome?.kind === "failed") return [attempt({ kind: "stop" }), timer("total"), timer("gap"), timer("start")];
  return [];
}

/** How a pass can have ended; a fault stands for a cancel. A failing run ends its pass as a failing pass does. */
function passEnds(
  record: Extract<RunRecord, { kind: "pass-ended" }>,
  log: readonly Recorded[],
  from: number,
): readonly (PassEvent | Fault)[] {
  const { reason, usage, fault } = record;
  switch (reason) {
    case "blocked":
      return [{ kind: "blobs-missing", blobs: askedBlobs(log, from + 1) }];
    case "failed":
      return fault ? [{ kind: "failed", fault }] : [];
    case "interrupted": {
      const outcome = outcomeAfter(log, from);
      return outcome?.kind === "canceled" ? [outcome.fault] : [];
    }
    default:
      return [{ kind: "ended", reason, usage }];
  }
}

function outcomeAfter(log: readonly Recorded[], from: number): Outcome | undefined {
  for (let at = from; at < log.length; at += 1) {
    const record = log[at]?.record;
    if (record?.kind === "finishing") return record.outcome;
  }
  return undefined;
}

/** The options of the run, which one append begins; to all others they mean nothing. */
function optionsOf(log: readonly Recorded[]): RunOptions {
  for (const { record } of log) if (record.kind === "run-accepted") return record.options;
  return { disconnectGraceMs: 0, maxPasses: 0, totalMs: 0 };
}

function askedBlobs(log: readonly Recorded[], from: number): readonly BlobId[] {
  const asked: BlobId[] = [];
  for (let at = from; ; at += 1) {
    const record = log[at]?.record;
    if (record?.kind !== "blob-asked") return asked;
    asked.push(record.blobId);
  }
}

/** The blobs of a checkpoint with the bytes their offers carry; one that is not offered again shows in no frame. */
function offeredBlobs(needs: readonly BlobId[], log: readonly Recorded[], from: number): readonly Blob[] {
  const bytes = new Map<BlobId, Uint8Array>();
  for (let at = from + 1; ; at += 1) {
    const one = log[at];
    if (one?.record.kind !== "blob-offered") break;
    const of = one.frame ? decodeServerMessage(one.frame).message : undefined;
    const kv = of?.case === "kvServerMessage" ? of.value.message : undefined;
    if (kv?.case === "setBlobArgs") bytes.set(one.record.blobId, kv.value.blobData);
  }
  return needs.map((id) => ({ id, bytes: bytes.get(id) ?? new Uint8Array() }));
}
