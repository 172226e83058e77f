import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FaultError } from "../../packages/server/src/run/faults.js";
import { logStoreContract } from "./log-store.js";
import { blob, record } from "./log-store-fixtures.js";
import { type SqliteHarness, sqliteHarness } from "./sqlite-harness.js";

logStoreContract("sqlite", sqliteHarness);

describe("sqlite store under a full disk", () => {
  let harness: SqliteHarness;
  beforeEach(async () => {
    harness = await sqliteHarness();
  });
  afterEach(() => harness.remove());

  it("refuses what does not fit, keeps nothing of it, and goes on after a prune", async () => {
    const store = await harness.open({ maxSizeBytes: 1024 * 1024 });
    const old = { requestId: "old", generation: 0 };
    const fresh = { requestId: "fresh", generation: 0 };
    const small = { requestId: "small", generation: 0 };
    for (const key of [old, fresh, small]) await store.log.open(key, 1);
    const half = new Uint8Array(600 * 1024);
    await store.log.append({ key: old, fence: 1, records: [record(1, { payload: half })], ended: true });

    const big = { key: fresh, fence: 1, records: [record(1), record(2, { payload: half })], blobs: [blob(half)] };
    const [refused, fits] = await Promise.allSettled([
      store.log.append(big),
      store.log.append({ key: small, fence: 1, records: [record(1)] }),
    ]);
    expect(fits.status).toBe("fulfilled");
    const reason = (refused as PromiseRejectedResult).reason as FaultError;
    expect(FaultError.is(reason) && reason.fault.code).toBe("log/write-failed");
    expect(reason.cause).toBeInstanceOf(Error);
    expect((await store.log.find(fresh))?.lastPosition).toBe(0);
    expect(await store.log.read(fresh, 0, 10)).toEqual([]);
    expect((await store.blobs.get([blob(half).id])).size).toBe(0);

    expect(await store.log.prune(2_000)).toBe(1);
    await store.log.append({ ...big, blobs: [] });
    expect((await store.log.read(fresh, 0, 10)).map(({ position }) => position)).toEqual([1, 2]);
  });
});

describe("sqlite store under kill -9", () => {
  let program: string;
  let harness: SqliteHarness;

  beforeAll(async () => {
    // Inside the repository, so that the bundle finds the driver.
    const cache = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, "keyturn-crash-"));
    const entry = fileURLToPath(new URL("./crash-writer.ts", import.meta.url));
    const output = { entryFileNames: "writer.mjs" };
    await build({
      configFile: false,
      logLevel: "error",
      build: { ssr: entry, outDir: folder, minify: false, rollupOptions: { output } },
    });
    program = join(folder, "writer.mjs");
  });
  afterAll(() => rm(dirname(program), { recursive: true, force: true }));
  beforeEach(async () => {
    harness = await sqliteHarness();
  });
  afterEach(() => harness.remove());

  async function writeUntilKilled(lines: number): Promise<Map<string, number>> {
    const child = spawn(process.execPath, [program, harness.file], { stdio: ["ignore", "pipe", "pipe"] });
    const acknowledged = new Map<string, number>();
    let errors = "";
    child.stderr.on("data", (chunk) => (errors += String(chunk)));
    const exited = new Promise((resolve) => child.once("exit", resolve));
    let count = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const [requestId, position] = line.split(" ");
      acknowledged.set(requestId as string, Number(position));
      if (++count === lines) child.kill("SIGKILL");
    }
    await exited;
    expect(errors).toBe("");
    return acknowledged;
  }

  it("has everything that was acknowledged and nothing by half", async () => {
    for (const lines of [1, 37, 150, 400]) {
      const acknowledged = await writeUntilKilled(lines);
      const store = await harness.open();
      for (const [requestId, position] of acknowledged) {
        const key = { requestId, generation: 0 };
        const records = await store.log.read(key, 0, 1_000_000);
        expect(records.length).toBeGreaterThanOrEqual(position);
        expect(records.length % 3).toBe(0);
        const ids = records.map(({ body }) => (body as { blob: string }).blob);
        expect((await store.blobs.get(ids)).size).toBe(records.length / 3);
      }
      await store.close();
    }
  });
});
