// @ts-check
/**
 * One number with its target.
 * @typedef {{ name: string, subject: string, value: number | undefined, unit: string, target: number, better: "more" | "less", details: object }} Row
 * @typedef {Awaited<ReturnType<typeof import("./throughput.mjs").measureThroughput>>} Throughput
 * @typedef {Awaited<ReturnType<typeof import("./paced.mjs").measurePaced>>} Paced
 * @typedef {Awaited<ReturnType<typeof import("./idle.mjs").measureIdle>>} Idle
 */

/** @param {Throughput} found @param {number} parallel @returns {Row[]} */
export function throughputRows(found, parallel) {
  const relay = found.get("relay");
  const name = `tokens/s of ${parallel} run${parallel === 1 ? "" : "s"}, share of the relay's`;
  return [...found].flatMap(([subject, own]) => {
    if (!relay || subject === "relay") return [];
    const { tokensPerSecond, tokensPerFrame, cpuMicrosecondsPerToken, writtenBytesPerToken } = own;
    const details = {
      tokensPerSecond,
      relay: relay.tokensPerSecond,
      tokensPerFrame,
      cpuMicrosecondsPerToken,
      ofRelay: relay.cpuMicrosecondsPerToken,
      writtenBytesPerToken,
    };
    return [
      { name, subject, value: tokensPerSecond / relay.tokensPerSecond, unit: "", target: 0.4, better: "more", details },
    ];
  });
}

/** @param {string} subject @param {Paced} own @param {Paced} relay @returns {Row[]} */
export function pacedRows(subject, own, relay) {
  const { firstTokenMs, ackMs, runs, appends, ...load } = own;
  const added = { p50: firstTokenMs.p50 - relay.firstTokenMs.p50, p99: firstTokenMs.p99 - relay.firstTokenMs.p99 };
  const common = { subject, unit: "ms", better: /** @type {const} */ ("less") };
  return [
    {
      ...common,
      name: "added to the first token, 50 runs, p50",
      value: added.p50,
      target: 5,
      details: { server: firstTokenMs, relay: relay.firstTokenMs, runs },
    },
    { ...common, name: "added to the first token, 50 runs, p99", value: added.p99, target: 30, details: load },
    {
      ...common,
      name: "append to its answer, 50 runs, p99",
      value: ackMs.p99,
      target: 20,
      details: { p50: ackMs.p50, appends },
    },
  ];
}

/** @param {string} subject @param {Idle} found @returns {Row} */
export function memoryRow(subject, found) {
  const { mostMiB, ...details } = found;
  const name = "memory with 500 idle subscribed runs";
  return { name, subject, value: mostMiB, unit: "MiB", target: 250, better: "less", details };
}

/** @param {readonly Row[]} rows @param {{ seconds: number, node: string, syncMs: object, problems: readonly string[] }} about */
export function printTable(rows, { seconds, node, syncMs, problems }) {
  const several = new Set(rows.map((row) => row.subject)).size > 1;
  for (const { name, subject, value, unit, target, better, details } of rows) {
    const label = several ? `${name} [${subject}]` : name;
    const bound = show(target, unit, better === "more" ? "at least " : "at most ");
    console.log(
      `${verdict(value, target, better)}  ${label.padEnd(several ? 54 : 44)} ${show(value, unit).padStart(9)}  (${bound})`,
    );
    console.log(`      ${describe(details)}`);
  }
  for (const problem of problems) console.log(`FAIL  ${problem}`);
  console.log(`\n${seconds.toFixed(0)} s on Node ${node}; a sync of 4 KiB to this disk, ms: ${describe(syncMs)}.`);
}

/** @param {number | undefined} value @param {number} target @param {"more" | "less"} better */
function verdict(value, target, better) {
  if (value === undefined) return "n/a ";
  return (better === "more" ? value >= target : value <= target) ? "pass" : "MISS";
}

/** @param {number | undefined} value @param {string} unit @param {string} before */
function show(value, unit, before = "") {
  if (value === undefined) return "n/a";
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${before}${value.toFixed(digits)}${unit && ` ${unit}`}`;
}

/** @param {object} details @returns {string} */
function describe(details) {
  return Object.entries(details)
    .map(([name, value]) => `${words(name)} ${typeof value === "object" ? `(${describe(value)})` : show(value, "")}`)
    .join(", ");
}

/** @param {string} name */
function words(name) {
  return name
    .replace(/MiB$/, ", MiB")
    .replace(/([a-z])Ms$/, "$1, ms")
    .replace(/[a-z][A-Z]/g, (pair) => `${pair[0]} ${pair[1]?.toLowerCase()}`);
}
