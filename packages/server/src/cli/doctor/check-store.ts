import { runName } from "../../run/ids.js";
import { StoreOpenError } from "../../store/errors.js";
import type { RunRow } from "../../store/port.js";
import type { StoreReader } from "../../store/sqlite/reader.js";
import { type Finding, healthy, problem } from "./finding.js";

const check = "store";

/** Reads every record and every blob of the store; a running server goes on meanwhile. */
export async function checkStore(reader: StoreReader): Promise<Finding[]> {
  try {
    const inUse = reader.isInUse();
    return [
      healthy(check, inUse ? `${reader.file}, a server is using it` : `${reader.file}, no server is using it`),
      await checkAmounts(reader, inUse),
      ...(await checkRuns(reader)),
      ...checkBlobs(reader),
    ];
  } catch (error) {
    return [unreadable(reader.file, error)];
  }
}

/** The problem of a store that cannot be opened. */
export function unopened(error: StoreOpenError): Finding {
  return problem(check, error.message, nextSteps[error.code]);
}

const nextSteps: Readonly<Record<StoreOpenError["code"], string>> = {
  "in-use": "stop the other server",
  missing: "start the server once",
  "newer-schema": "install the newer Keyturn again",
  "not-a-store": "put a backup in its place, or name another file in store.url",
  unsupported: "correct store.url",
  unavailable: "make the file readable for this user, or put a backup in its place",
};

async function checkAmounts(reader: StoreReader, inUse: boolean): Promise<Finding> {
  const { runs, unfinished, records, blobs, conversations, sizeBytes } = await reader.totals();
  const megabytes = (sizeBytes / 1_048_576).toFixed(1);
  const open =
    unfinished === 0 || inUse ? `${unfinished} unfinished` : `${unfinished} unfinished, the next start takes them over`;
  const words = `${runs} runs (${open}), ${records} records, ${conversations} conversations, ${blobs} blobs, ${megabytes} MB`;
  return healthy(check, words);
}

async function checkRuns(reader: StoreReader): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const run of await reader.log.listRuns({ limit: Number.MAX_SAFE_INTEGER })) {
    const damage = await reader.findDamage(run);
    if (damage !== undefined) found.push(damagedRun(run, damage));
  }
  return found.length > 0 ? found : [healthy("runs", "every record is as it was written")];
}

function damagedRun({ key, conversationId }: RunRow, damage: string): Finding {
  const next = `all other runs are untouched; send the message again in ${conversationId ?? "its conversation"}, or put a backup in place of the store`;
  return problem("runs", `run ${runName(key)} cannot be read: ${damage}`, next);
}

function checkBlobs(reader: StoreReader): Finding[] {
  const damaged = reader.damagedBlobs();
  if (damaged.length === 0) return [healthy("blobs", "every blob is what its name says")];
  return damaged.map((id) =>
    problem("blobs", `blob ${id} is damaged`, "none needed: the server drops it and asks the client for it again"),
  );
}

function unreadable(file: string, error: unknown): Finding {
  const words = error instanceof Error ? error.message : String(error);
  return problem(
    check,
    `${file} cannot be read to its end: ${words}`,
    "put a backup in its place; keep the file, sqlite3 .recover may save more",
  );
}
