import fc from "fast-check";
import { expect } from "vitest";
import type { Store, StoredRecord } from "../../packages/server/src/store/port.js";
import { codeOf, record } from "./log-store-fixtures.js";

/** One thing that is done to one of three runs. */
export interface Operation {
  readonly run: number;
  readonly act: "open" | "claim" | "append";
  readonly count: number;
  /** Added to the right value; 0 makes a good append. */
  readonly fenceOff: number;
  readonly positionOff: number;
  readonly ended: boolean;
}

const mostlyZero = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) });

/** Any operation, good ones more often than bad ones. */
export const operation: fc.Arbitrary<Operation> = fc.record({
  run: fc.nat(2),
  act: fc.constantFrom("open", "claim", "append", "append", "append"),
  count: fc.nat(3),
  fenceOff: mostlyZero,
  positionOff: mostlyZero,
  ended: fc.boolean(),
});

/** All operations are started in one tick: the model runs them in order, the store must give the same outcomes. */
export async function compareWithModel(store: Store, operations: readonly Operation[], prefix: string): Promise<void> {
  const model = new Map<string, { fence: number; ended: boolean; records: StoredRecord[] }>();
  const expected: string[] = [];
  const actual = operations.map(({ run: number, act, count, fenceOff, positionOff, ended }) => {
    const key = { requestId: `${prefix}-${number}`, generation: 0 };
    const known = model.get(key.requestId);
    if (act === "open") {
      if (known === undefined) model.set(key.requestId, { fence: 1, ended: false, records: [] });
      expected.push("no fault");
      return codeOf(store.log.open(key, 1));
    }
    if (act === "claim") {
      expected.push(known === undefined ? "request/not-found" : "no fault");
      if (known !== undefined) known.fence++;
      return codeOf(store.log.claim(key));
    }
    const fence = (known?.fence ?? 1) + fenceOff;
    const start = (known?.records.length ?? 0) + 1 + positionOff;
    const records = Array.from({ length: count }, (_, index) => record(start + index, { fence }));
    const good = known !== undefined && fenceOff === 0 && (count === 0 || positionOff === 0);
    expected.push(good ? "no fault" : "log/stale-fence");
    if (good) {
      known.records.push(...records);
      known.ended ||= ended;
    }
    return codeOf(store.log.append({ key, fence, records, ended }));
  });
  expect(await Promise.all(actual)).toEqual(expected);
  for (const [requestId, { fence, ended, records }] of model) {
    const key = { requestId, generation: 0 };
    expect(await store.log.find(key)).toMatchObject({ fence, ended, lastPosition: records.length });
    expect(await store.log.read(key, 0, 1_000)).toEqual(records);
  }
}
