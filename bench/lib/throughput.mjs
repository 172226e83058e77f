// @ts-check
// Part 1: tokens a second through the relay and through the server, in turns, so that both meet the same machine.
import { workOf } from "./processes.mjs";
import { median, sum } from "./statistics.mjs";

/** @typedef {import("./client.mjs").RunLog} RunLog */
/** @typedef {{ name: string, pid: number, run(model: string): Promise<RunLog> }} Subject */

const rounds = 3;
const tokensOfOne = 30_000;
const tokensOfEach = 10_000;
const roundMs = 8_000;

export const throughputModels = [`burst-${tokensOfOne}`, `burst-${tokensOfEach}`];

/**
 * @param {readonly Subject[]} subjects @param {number} parallel
 * @returns {Promise<Map<string, { tokensPerSecond: number, tokensPerFrame: number, cpuMicrosecondsPerToken: number, writtenBytesPerToken: number }>>}
 */
export async function measureThroughput(subjects, parallel) {
  const model = throughputModels[parallel === 1 ? 0 : 1] ?? "";
  const found = new Map(subjects.map(({ name }) => [name, /** @type {Awaited<ReturnType<typeof once>>[]} */ ([])]));
  // The first round warms up: code is compiled, connections are opened.
  for (let round = 0; round <= rounds; round += 1) {
    for (const subject of subjects) {
      const result = await once(subject, model, parallel);
      if (round > 0) found.get(subject.name)?.push(result);
    }
  }
  return new Map(
    [...found].map(([name, results]) => [
      name,
      {
        tokensPerSecond: median(results.map((one) => one.tokensPerSecond)),
        tokensPerFrame: median(results.map((one) => one.tokensPerFrame)),
        cpuMicrosecondsPerToken: median(results.map((one) => one.cpuMicrosecondsPerToken)),
        writtenBytesPerToken: median(results.map((one) => one.writtenBytesPerToken)),
      },
    ]),
  );
}

/** @param {Subject} subject @param {string} model @param {number} parallel */
async function once({ name, pid, run }, model, parallel) {
  const before = workOf(pid);
  const runs = Promise.all(Array.from({ length: parallel }, () => run(model)));
  const logs = await within(roundMs, `${name} with ${parallel} x ${model}`, runs);
  const after = workOf(pid);
  const tokens = sum(logs.map((log) => log.tokens));
  const wanted = parallel * Number(model.split("-")[1]);
  if (tokens !== wanted) throw new Error(`${name}: ${tokens} tokens came of ${wanted}`);
  const from = Math.min(...logs.map((log) => log.firstTextAt));
  const to = Math.max(...logs.map((log) => log.lastTextAt));
  return {
    tokensPerSecond: tokens / ((to - from) / 1000),
    cpuMicrosecondsPerToken: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / tokens,
    tokensPerFrame: tokens / sum(logs.map((log) => log.textFrames)),
    writtenBytesPerToken: (after.writtenBytes - before.writtenBytes) / tokens,
  };
}

/** @template T @param {number} ms @param {string} what @param {Promise<T>} work @returns {Promise<T>} */
async function within(ms, what, work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${ms} ms`)), ms);
  });
  try {
    return await /** @type {Promise<T>} */ (Promise.race([work, late]));
  } finally {
    clearTimeout(timer);
  }
}
