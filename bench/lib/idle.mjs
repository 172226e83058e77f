// @ts-check
// Part 4: the memory of a fresh server with many runs whose vendor says nothing, each with its subscriber.
import { setMaxListeners } from "node:events";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { serverRun } from "./client.mjs";
import { residentMiB } from "./processes.mjs";

/** @typedef {import("./processes.mjs").Running} Running */

const runs = 500;
const atOnce = 50;
const openMs = 20_000;
/** Longer than a round of heartbeats. */
const settleMs = 6_000;

export const idleModel = "silent";

/** @param {Running} server @param {number} vendorPort */
export async function measureIdle(server, vendorPort) {
  const before = residentMiB(server.pid);
  if (before === undefined) return { runs: 0, mostMiB: undefined, beforeMiB: undefined, openedMs: 0 };
  const letGo = new AbortController();
  setMaxListeners(0, letGo.signal);
  const all = [];
  const startedAt = performance.now();
  for (let opened = 0; opened < runs; opened += atOnce) {
    for (let index = 0; index < atOnce; index += 1) all.push(serverRun(server, idleModel, letGo.signal));
    while ((await openAnswers(vendorPort)) < opened + atOnce) {
      if (performance.now() - startedAt > openMs) throw new Error(`not all of ${runs} runs came to the vendor`);
      await sleep(20);
    }
  }
  const openedMs = performance.now() - startedAt;
  let most = 0;
  for (let waited = 0; waited < settleMs; waited += 250) {
    most = Math.max(most, residentMiB(server.pid) ?? 0);
    await sleep(250);
  }
  letGo.abort();
  await Promise.all(all);
  return { runs, mostMiB: most, beforeMiB: before, openedMs };
}

/** Answers the vendor has begun and not ended. @param {number} port @returns {Promise<number>} */
function openAnswers(port) {
  return new Promise((resolve, reject) => {
    const request = get({ port, host: "127.0.0.1" }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text) => (body += text)).on("end", () => resolve(JSON.parse(body).open));
    });
    request.on("error", reject);
  });
}
