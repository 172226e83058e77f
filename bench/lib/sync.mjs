// @ts-check
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./processes.mjs";
import { percentile } from "./statistics.mjs";

/** How long this disk takes to make 4 KiB safe: the least any durable append can take here. */
export function syncMs() {
  const file = openSync(join(temporaryFolder(), "sync"), "w");
  const page = Buffer.alloc(4096);
  const times = Array.from({ length: 100 }, () => {
    const startedAt = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
