/** Bounds and deadlines of the core, in ms, bytes and counts. Set once by the composition, the same for all runs. */
export interface CoreLimits {
  /** How long a later append waits for a missing one (A1). */
  readonly appendGapMs: number;
  /** How long a gap left by a change of owner is waited for: heartbeats seen by the former owner are not in the log. */
  readonly gapAfterTakeoverMs: number;
  readonly inboxCount: number;
  readonly inboxBytes: number;
  /** How long a log may exist without the message that starts its run. */
  readonly startMs: number;
  readonly contextMs: number;
  /** Silence of an execution that has sent a heartbeat or output before. */
  readonly execSilenceMs: number;
  /** Silence of an execution that never sent any sign of life. */
  readonly execUnansweredMs: number;
  /** After a close without a result, and between a result and its close (P8). */
  readonly execCloseGraceMs: number;
  readonly blobMs: number;
  /** A subscriber must come within this time after the first append, whatever the grace of its class. */
  readonly firstSubscriberMs: number;
  /** The model's side answers with something, a heartbeat of the effect included, within this time. */
  readonly passSilenceMs: number;
  /** Passes cut in a row before the run gives up. */
  readonly maxInterruptions: number;
}

export const defaultLimits: CoreLimits = {
  appendGapMs: 30_000,
  gapAfterTakeoverMs: 3_000,
  inboxCount: 256,
  inboxBytes: 64 * 1024 * 1024,
  startMs: 60_000,
  contextMs: 15_000,
  execSilenceMs: 60_000,
  execUnansweredMs: 600_000,
  execCloseGraceMs: 1_500,
  blobMs: 10_000,
  firstSubscriberMs: 30_000,
  passSilenceMs: 900_000,
  maxInterruptions: 5,
};
