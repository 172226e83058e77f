// @ts-check
// Parts 2 and 3: 50 runs at a time whose vendor writes at the speed of a real one; how late is the first token, and
// how long does an append wait for its answer?
import { setTimeout as sleep } from "node:timers/promises";
import { logBytes, workOf } from "./processes.mjs";
import { percentile, sum } from "./statistics.mjs";

/** @typedef {import("./client.mjs").RunLog} RunLog */

const slots = 50;
const tokens = 200;
const perSecond = 50;
const runMs = (tokens / perSecond) * 1000;
const warmUpMs = 1_000;
const measureMs = 9_000;

export const pacedModel = `paced-${tokens}-${perSecond}`;

/** @param {{ name: string, pid: number, folder: string, run(model: string): Promise<RunLog> }} subject */
export async function measurePaced({ pid, folder, run }) {
  const startedAt = performance.now();
  const until = startedAt + warmUpMs + measureMs;
  const logBefore = logBytes(folder);
  const before = workOf(pid);
  const runs = await Promise.all(Array.from({ length: slots }, (_, slot) => fill(slot, run, until)));
  const after = workOf(pid);
  const all = runs.flat();
  const seconds = (performance.now() - startedAt) / 1000;
  const measured = all.filter((log) => log.startedAt > startedAt + warmUpMs);
  const firstTokens = measured.map((log) => log.firstTextAt - log.startedAt);
  const acks = measured.flatMap((log) => log.acks);
  return {
    runs: measured.length,
    firstTokenMs: { p50: percentile(firstTokens, 0.5), p99: percentile(firstTokens, 0.99) },
    appends: acks.length,
    ackMs: { p50: percentile(acks, 0.5), p99: percentile(acks, 0.99) },
    cpuShare: (after.cpuSeconds - before.cpuSeconds) / seconds,
    framesPerSecond: sum(all.map((log) => log.textFrames)) / seconds,
    logBytesPerToken: (logBytes(folder) - logBefore) / sum(all.map((log) => log.tokens)),
  };
}

/** One run after the other; the slots begin spread over the length of a run. @param {number} slot @param {(model: string) => Promise<RunLog>} run @param {number} until */
async function fill(slot, run, until) {
  /** @type {RunLog[]} */
  const logs = [];
  await sleep((slot * runMs) / slots);
  while (performance.now() < until) {
    const log = await run(pacedModel);
    if (log.tokens !== tokens) throw new Error(`${log.tokens} tokens came of ${tokens}`);
    logs.push(log);
  }
  return logs;
}
