import { type Fault, FaultError } from "../run/faults.js";
import { type RunKey, runName } from "../run/ids.js";
import type { LogStore, RunRow } from "./port.js";

/**
 * A log that sets damaged runs aside: the first time a record of one is found damaged or missing it is reported, and
 * from then on the run is refused with the same fault at once, without being claimed or read again. All others are
 * left alone (D3). The mark lasts as long as the process; a disk that could not be read for a moment sets none.
 */
export function setAsideDamaged(log: LogStore, report: (key: RunKey, reason: Fault) => void): LogStore {
  const aside = new Map<string, Fault>();

  const refuse = (key: RunKey) => {
    const reason = aside.get(runName(key));
    if (reason) throw new FaultError(reason);
  };
  const watched = async <Result>(key: RunKey, read: () => Promise<Result>): Promise<Result> => {
    refuse(key);
    try {
      return await read();
    } catch (error) {
      if (isDamage(error) && !aside.has(runName(key))) {
        aside.set(runName(key), error.fault);
        report(key, error.fault);
      }
      throw error;
    }
  };
  const usable = (row: RunRow) => !aside.has(runName(row.key));

  return {
    open: (key, at) => log.open(key, at),
    find: (key) => log.find(key),
    newest: async (requestId) => {
      const row = await log.newest(requestId);
      if (row) refuse(row.key);
      return row;
    },
    claim: (key) => log.claim(key),
    append: (entry) => log.append(entry),
    read: (key, after, limit) => watched(key, () => log.read(key, after, limit)),
    readFrames: (key, after, limit) => watched(key, () => log.readFrames(key, after, limit)),
    unfinished: async () => (await log.unfinished()).filter(usable),
    listRuns: (filter) => log.listRuns(filter),
    prune: (endedBefore) => log.prune(endedBefore),
  };
}

/** Reading that failed for another reason says so in its cause, and may succeed the next time. */
function isDamage(error: unknown): error is FaultError {
  return FaultError.is(error) && error.fault.code === "run/unreadable" && error.cause === undefined;
}
