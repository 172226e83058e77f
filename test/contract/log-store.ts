import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunKey } from "../../packages/server/src/run/ids.js";
import type { Store } from "../../packages/server/src/store/port.js";
import { blob, codeOf, record } from "./log-store-fixtures.js";
import { compareWithModel, operation } from "./log-store-model.js";

/** One fresh, empty store and what a test may do to it from outside. */
export interface StoreHarness {
  /** Opens the store; after a close it opens the same data again. */
  open(): Promise<Store>;
  /** Flips one byte of a column of a stored record, behind the store's back. */
  damage(key: RunKey, position: number, column: "body" | "frame" | "payload"): Promise<void>;
  /** Deletes a stored record behind the store's back. */
  lose(key: RunKey, position: number): Promise<void>;
  /** Replaces a stored blob's bytes behind the store's back. */
  damageBlob(id: string): Promise<void>;
  /** Closes what is open and removes the data. */
  remove(): Promise<void>;
}

const run: RunKey = { requestId: "request-1", generation: 0 };

/** What every store must do, whatever it stands on. */
export function logStoreContract(name: string, create: () => Promise<StoreHarness>): void {
  describe(`log store contract: ${name}`, () => {
    let harness: StoreHarness;
    let store: Store;

    beforeEach(async () => {
      harness = await create();
      store = await harness.open();
    });
    afterEach(() => harness.remove());

    it("opens a run once and finds it again", async () => {
      const row = await store.log.open(run, 5);
      expect(row).toEqual({
        key: run,
        fence: 1,
        lastPosition: 0,
        ended: false,
        conversationId: null,
        createdAt: 5,
        endedAt: null,
      });
      expect(await store.log.open(run, 9)).toEqual(row);
      expect(await store.log.find(run)).toEqual(row);
      expect(await store.log.find({ requestId: "request-2", generation: 0 })).toBeUndefined();
      expect(await store.log.read({ requestId: "request-2", generation: 0 }, 0, 10)).toEqual([]);
    });

    it("knows the newest generation of a request id", async () => {
      for (const generation of [0, 2, 1]) await store.log.open({ ...run, generation }, generation);
      expect((await store.log.newest(run.requestId))?.key.generation).toBe(2);
      expect(await store.log.newest("request-2")).toBeUndefined();
    });

    it("keeps records as they were given, across a close", async () => {
      const records = [
        record(1),
        record(2, { payload: new Uint8Array(0), frame: null, body: null }),
        record(3, { payload: new Uint8Array(randomBytes(70_000)), frame: new Uint8Array(0) }),
        record(4, { kind: "ünïcode \u{1F600}", body: "a\u0000b" }),
      ];
      await store.log.open(run, 1);
      await store.log.append({ key: run, fence: 1, records: records.slice(0, 1), conversationId: "c-1" });
      await store.log.append({ key: run, fence: 1, records: records.slice(1), ended: true });
      const row = { lastPosition: 4, ended: true, endedAt: 1_004, conversationId: "c-1" };
      expect(await store.log.find(run)).toMatchObject(row);
      await store.close();
      store = await harness.open();
      expect(await store.log.find(run)).toMatchObject(row);
      expect(await store.log.read(run, 0, 100)).toEqual(records);
      expect(await store.log.read(run, 2, 1)).toEqual([records[2]]);
      expect(await store.log.read(run, 4, 10)).toEqual([]);
      const frames = records.flatMap(({ position, kind, body, frame }) =>
        frame === null ? [] : [{ position, kind, body, frame }],
      );
      expect(await store.log.readFrames(run, 0, 100)).toEqual(frames);
      expect(await store.log.readFrames(run, 1, 1)).toEqual([frames[1]]);
    });

    it("refuses an append of an old owner and leaves no trace of it (I-35)", async () => {
      await store.log.open(run, 1);
      await store.log.append({ key: run, fence: 1, records: [record(1)] });
      expect(await store.log.claim(run)).toBe(2);
      const late = blob(Buffer.from("late"));
      expect(await codeOf(store.log.append({ key: run, fence: 1, records: [record(2)], blobs: [late] }))).toBe(
        "log/stale-fence",
      );
      await store.log.append({ key: run, fence: 2, records: [record(2, { fence: 2, kind: "owner-changed" })] });
      expect((await store.log.read(run, 0, 10)).map(({ kind }) => kind)).toEqual(["frame-published", "owner-changed"]);
      expect(await store.blobs.get([late.id])).toEqual(new Map());
      expect(await codeOf(store.log.claim({ requestId: "none", generation: 0 }))).toBe("request/not-found");
    });

    it("refuses positions that do not follow on, foreign fences and unknown runs", async () => {
      await store.log.open(run, 1);
      const wrong = [
        [record(2)],
        [record(1), record(3)],
        [record(1), record(1)],
        [record(1, { fence: 2 })],
        [record(0)],
      ];
      for (const records of wrong) {
        expect(await codeOf(store.log.append({ key: run, fence: 1, records }))).toBe("log/stale-fence");
      }
      const unknown = { requestId: "none", generation: 0 };
      expect(await codeOf(store.log.append({ key: unknown, fence: 1, records: [record(1)] }))).toBe("log/stale-fence");
      expect((await store.log.find(run))?.lastPosition).toBe(0);
    });

    it("lets one bad append of a group fail alone", async () => {
      const keys = Array.from({ length: 20 }, (_, index) => ({ requestId: `group-${index}`, generation: 0 }));
      await Promise.all(keys.map((key) => store.log.open(key, 1)));
      const codes = await Promise.all(
        keys.map((key, index) => {
          const records = [record(index % 5 === 0 ? 7 : 1)];
          return codeOf(store.log.append({ key, fence: 1, records }));
        }),
      );
      expect(codes).toEqual(keys.map((_, index) => (index % 5 === 0 ? "log/stale-fence" : "no fault")));
      const rows = await Promise.all(keys.map((key) => store.log.find(key)));
      expect(rows.map((row) => row?.lastPosition)).toEqual(keys.map((_, index) => (index % 5 === 0 ? 0 : 1)));
    });

    it("keeps the order of what one caller does in a tick", async () => {
      await store.log.open(run, 1);
      const results = await Promise.all([
        codeOf(store.log.append({ key: run, fence: 1, records: [record(1)] })),
        codeOf(store.log.append({ key: run, fence: 1, records: [record(2)] })),
        store.log.claim(run),
        codeOf(store.log.append({ key: run, fence: 1, records: [record(3)] })),
      ]);
      expect(results).toEqual(["no fault", "no fault", 2, "log/stale-fence"]);
    });

    for (const column of ["body", "frame", "payload"] as const) {
      it(`notices a damaged ${column} and reads the rest`, async () => {
        await store.log.open(run, 1);
        const records = [1, 2, 3].map((position) => record(position, { payload: Uint8Array.of(1, 2, 3) }));
        await store.log.append({ key: run, fence: 1, records });
        await harness.damage(run, 2, column);
        const failure = store.log.read(run, 0, 10);
        await expect(failure).rejects.toThrow("record 2 of run request-1 is damaged");
        expect(await codeOf(failure)).toBe("run/unreadable");
        expect(await store.log.read(run, 0, 1)).toEqual([records[0]]);
        expect(await store.log.read(run, 2, 1)).toEqual([records[2]]);
        const frames = codeOf(store.log.readFrames(run, 0, 10));
        expect(await frames).toBe(column === "payload" ? "no fault" : "run/unreadable");
      });
    }

    it("notices a missing record", async () => {
      await store.log.open(run, 1);
      await store.log.append({ key: run, fence: 1, records: [record(1), record(2), record(3)] });
      await harness.lose(run, 3);
      await expect(store.log.read(run, 0, 10)).rejects.toThrow("record 3 of run request-1 is missing");
      await harness.lose(run, 1);
      await expect(store.log.read(run, 0, 10)).rejects.toThrow("record 1 of run request-1 is missing");
    });

    it("lists and prunes runs", async () => {
      for (const index of [1, 2, 3, 4]) {
        const key = { requestId: `list-${index}`, generation: 0 };
        await store.log.open(key, index);
        const at = index * 100;
        const conversationId = index % 2 === 0 ? "even" : "odd";
        await store.log.append({ key, fence: 1, records: [record(1, { at })], conversationId, ended: index < 4 });
      }
      const names = (rows: readonly { key: RunKey }[]) => rows.map(({ key }) => key.requestId);
      expect(names(await store.log.listRuns({ limit: 3 }))).toEqual(["list-4", "list-3", "list-2"]);
      expect(names(await store.log.listRuns({ limit: 9, conversationId: "even" }))).toEqual(["list-4", "list-2"]);
      expect(names(await store.log.listRuns({ limit: 9, conversationId: "even", ended: true }))).toEqual(["list-2"]);
      expect(names(await store.log.unfinished())).toEqual(["list-4"]);
      expect(await store.log.prune(300)).toBe(2);
      expect(names(await store.log.listRuns({ limit: 9 }))).toEqual(["list-4", "list-3"]);
      expect(await store.log.read({ requestId: "list-1", generation: 0 }, 0, 9)).toEqual([]);
    });

    it("keeps blobs, skips known ones and drops damaged ones", async () => {
      const small = blob(Buffer.from("small"));
      const large = blob(new Uint8Array(8 * 1024 * 1024).fill(7));
      await store.blobs.put([small, large, small]);
      await store.blobs.put([small]);
      const absent = blob(Buffer.from("absent")).id;
      const found = await store.blobs.get([small.id, large.id, absent, "../../etc/passwd", small.id]);
      expect([...found.keys()]).toEqual([small.id, large.id]);
      expect(Buffer.compare(found.get(large.id) as Uint8Array, large.bytes)).toBe(0);
      await harness.damageBlob(small.id);
      expect(await store.blobs.get([small.id])).toEqual(new Map());
      await store.blobs.put([small]);
      expect((await store.blobs.get([small.id])).size).toBe(1);
      expect(await codeOf(store.blobs.put([{ ...small, id: "../x" }]))).toBe("request/invalid");
    });

    it("knows a conversation from the first append that names it (I-33)", async () => {
      await store.log.open(run, 1);
      const root = blob(Buffer.from("root"));
      await store.log.append({ key: run, fence: 1, records: [record(1)], conversationId: "c-1" });
      expect(await store.conversations.get("c-1")).toMatchObject({ root: null, name: null, workspacePaths: [] });
      expect(await store.conversations.newestRoot("c-1")).toBeUndefined();
      const newestRoot = { conversationId: "c-1", root: root.id };
      await store.log.append({ key: run, fence: 1, records: [record(2)], blobs: [root], newestRoot });
      await store.conversations.setMetadata("c-1", "A name", ["/w"]);
      await store.conversations.setMetadata("c-1", undefined, ["C:\\w", "/w"]);
      expect(await store.conversations.newestRoot("c-1")).toBe(root.id);
      expect(await store.conversations.get("c-1")).toMatchObject({ name: "A name", workspacePaths: ["C:\\w", "/w"] });
      expect((await store.conversations.list(5)).map(({ conversationId }) => conversationId)).toEqual(["c-1"]);
      expect(await store.conversations.get("c-2")).toBeUndefined();
      expect([await store.conversations.delete("c-1"), await store.conversations.delete("c-1")]).toEqual([true, false]);
    });

    it("keeps API keys and facts", async () => {
      const key = { id: "k1", name: "first", hash: "ab", createdAt: 1 };
      await store.keys.add(key);
      expect(await codeOf(store.keys.add({ ...key, id: "k2" }))).toBe("request/invalid");
      expect([await store.keys.revoke("k1", 7), await store.keys.revoke("k1", 8)]).toEqual([true, false]);
      expect(await store.keys.all()).toEqual([{ ...key, revokedAt: 7 }]);
      expect(await store.meta.get("secret")).toBeUndefined();
      expect(await store.meta.ensure("secret", Uint8Array.of(1))).toEqual(Uint8Array.of(1));
      expect(await store.meta.ensure("secret", Uint8Array.of(2))).toEqual(Uint8Array.of(1));
      expect(await store.meta.get("secret")).toEqual(Uint8Array.of(1));
    });

    it("serves 50 runs that write large blobs at once (I-39)", async () => {
      const latencies: number[] = [];
      const work = Array.from({ length: 50 }, async (_, index) => {
        const key = { requestId: `busy-${index}`, generation: 0 };
        await store.log.open(key, 1);
        for (let position = 1; position <= 4; position++) {
          const blobs = position === 2 ? [blob(new Uint8Array(512 * 1024).fill(index))] : [];
          const startedAt = performance.now();
          await store.log.append({ key, fence: 1, records: [record(position)], blobs });
          latencies.push(performance.now() - startedAt);
        }
      });
      const results = await Promise.allSettled(work);
      expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
      // A lock that somebody waits for would show as the busy timeout of 5 s.
      expect(Math.max(...latencies)).toBeLessThan(5_000);
      const rows = await store.log.unfinished();
      expect(rows.map(({ lastPosition }) => lastPosition)).toEqual(rows.map(() => 4));
    });

    it("refuses writes after the close, and closes twice", async () => {
      await store.log.open(run, 1);
      const underWay = store.log.append({ key: run, fence: 1, records: [record(1)] });
      await Promise.all([store.close(), store.close(), underWay]);
      expect(await codeOf(store.log.append({ key: run, fence: 1, records: [record(2)] }))).toBe("log/write-failed");
    });

    it("behaves like its model", async () => {
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
          await compareWithModel(store, operations, `model-${round++}`);
        }),
        { numRuns: 60 },
      );
    });
  });
}
