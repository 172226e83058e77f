import { expect, test } from "vitest";
import { type Fault, FaultError, fault } from "../run/faults.js";
import type { LogStore, RunRow } from "./port.js";
import { setAsideDamaged } from "./set-aside-damaged.js";

const rows = ["bad", "good"].map((requestId) => ({ key: { requestId, generation: 0 } }) as RunRow);
const [bad, good] = rows as [RunRow, RunRow];

function setUp(failure: () => unknown) {
  const told: Fault[] = [];
  let reads = 0;
  const log = {
    newest: async (requestId: string) => rows.find(({ key }) => key.requestId === requestId),
    unfinished: async () => rows,
    read: async (key) => {
      reads += 1;
      if (key.requestId === "bad") throw failure();
      return [];
    },
  } satisfies Partial<LogStore>;
  const watched = setAsideDamaged(log as unknown as LogStore, (_key, reason) => told.push(reason));
  return { watched, told, reads: () => reads };
}

test("a damaged run is told of once and from then on refused without a look; the others are as before", async () => {
  const reason = fault("run/unreadable", "record 2 of run bad is damaged");
  const { watched, told, reads } = setUp(() => new FaultError(reason));
  await expect(watched.read(bad.key, 0, 1)).rejects.toMatchObject({ fault: reason });
  await expect(watched.read(bad.key, 0, 1)).rejects.toMatchObject({ fault: reason });
  await expect(watched.newest("bad")).rejects.toMatchObject({ fault: reason });
  expect([told, reads()]).toEqual([[reason], 1]);
  expect(await watched.unfinished()).toEqual([good]);
  expect(await watched.newest("good")).toBe(good);
  expect(await watched.read(good.key, 0, 1)).toEqual([]);
});

test("a disk that could not be read for a moment sets nothing aside", async () => {
  const { watched, told, reads } = setUp(
    () => new FaultError(fault("run/unreadable", "disk"), { cause: new Error("EIO") }),
  );
  for (let time = 0; time < 2; time += 1) await expect(watched.read(bad.key, 0, 1)).rejects.toThrow("disk");
  expect([told, reads(), await watched.unfinished()]).toEqual([[], 2, rows]);
});
