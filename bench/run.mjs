// @ts-check
// `npm run bench`: how fast and how small the server is, against a bare relay on the same machine in the same run.
// The numbers of one run belong together: compare ratios, never numbers of two runs. Usage:
//   node bench/run.mjs [--json] [--only one,eight,paced,idle] [--checkout FOLDER] [--against FOLDER]
// `--checkout` measures another built checkout; `--against` a second one in turns with it: before and after in one run.
// `--node-option` (repeatable) goes to the servers' Node, such as --node-option=--cpu-prof.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { relayRun, serverRun } from "./lib/client.mjs";
import { idleModel, measureIdle } from "./lib/idle.mjs";
import { measurePaced, pacedModel } from "./lib/paced.mjs";
import { startScript, startServer } from "./lib/processes.mjs";
import { memoryRow, pacedRows, printTable, throughputRows } from "./lib/report.mjs";
import { syncMs } from "./lib/sync.mjs";
import { measureThroughput, throughputModels } from "./lib/throughput.mjs";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string", default: "one,eight,paced,idle" },
    checkout: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
    against: { type: "string" },
    "node-option": { type: "string", multiple: true, default: [] },
  },
});
const checkouts = [
  { name: "server", folder: options.checkout },
  ...(options.against === undefined ? [] : [{ name: "against", folder: options.against }]),
];
const models = [...throughputModels, pacedModel, idleModel];

const startedAt = performance.now();
const sync = syncMs();
const vendor = await startScript("vendor.mjs");
const relay = await startScript("relay.mjs", [String(vendor.port)]);
const floor = { ...relay, name: "relay", run: (/** @type {string} */ model) => relayRun(relay.port, model) };

/** @param {{ name: string, folder: string }} checkout */
async function startSubject({ name, folder }) {
  const server = await startServer(folder, vendor.port, models, options["node-option"]);
  return { ...server, name, run: (/** @type {string} */ model) => serverRun(server, model) };
}

/** @type {import("./lib/report.mjs").Row[]} */
const rows = [];
/** @type {string[]} */
const problems = [];

/** A part that fails says so, and the others go on. @param {string} name @param {() => Promise<void>} measure */
async function part(name, measure) {
  if (!options.only.split(",").includes(name)) return;
  await measure().catch((/** @type {Error} */ error) => problems.push(`${name}: ${error.message}`));
}

const servers = await Promise.all(checkouts.map(startSubject));
await part("one", async () => {
  rows.push(...throughputRows(await measureThroughput([floor, ...servers], 1), 1));
});
await part("eight", async () => {
  rows.push(...throughputRows(await measureThroughput([floor, ...servers], 8), 8));
});
await part("paced", async () => {
  const ofRelay = await measurePaced(floor);
  for (const server of servers) rows.push(...pacedRows(server.name, await measurePaced(server), ofRelay));
});
await Promise.all(servers.map((server) => server.stop()));
await part("idle", async () => {
  for (const checkout of checkouts) {
    const fresh = await startSubject(checkout);
    rows.push(memoryRow(checkout.name, await measureIdle(fresh, vendor.port)));
    await fresh.stop();
  }
});
await Promise.all([relay.stop(), vendor.stop()]);

const about = { seconds: (performance.now() - startedAt) / 1000, node: process.version, syncMs: sync, problems };
if (options.json) console.log(JSON.stringify({ ...about, rows }, null, 2));
else printTable(rows, about);
// A missed target is a finding; only a part that could not be measured is a failure.
process.exitCode = problems.length > 0 ? 1 : 0;
