import type { LogRecord, LogRun } from "../engine/ports.js";
import type { Position, RunKey } from "../run/ids.js";
import { recordVersion } from "../run/records.js";
import { redactRecords, type SameLengthRedaction } from "./redact-record.js";
import { type RunFile, runFileVersion } from "./run-file.js";

/** The part of the log that an export reads. */
export interface ExportSource {
  read(key: RunKey, after: Position, limit: number): Promise<readonly LogRecord[]>;
}

const batch = 512;

/**
 * Reads a whole run, redacted. Blobs are no part of it: nothing the core decides looks at one that is not in a record,
 * a client message or a frame. Rejects with FaultError `run/unreadable` when the log is damaged.
 */
export async function exportRun(
  source: ExportSource,
  run: Pick<LogRun, "key" | "createdAt" | "ended"> & { readonly conversationId: string | null },
  { server, redact }: { readonly server: string; readonly redact: SameLengthRedaction },
): Promise<RunFile> {
  const recorded: LogRecord[] = [];
  for (;;) {
    const next = await source.read(run.key, recorded.length, batch);
    recorded.push(...next);
    if (next.length < batch) break;
  }
  const records = redactRecords(recorded, redact);
  return {
    header: {
      format: "keyturn-run",
      formatVersion: runFileVersion,
      server,
      recordVersion,
      requestId: run.key.requestId,
      generation: run.key.generation,
      conversationId: run.conversationId,
      createdAt: run.createdAt,
      ended: recorded.at(-1)?.kind === "ended",
      records: records.length,
      redactions: records.filter((record, index) => record !== recorded[index]).length,
    },
    records,
  };
}
