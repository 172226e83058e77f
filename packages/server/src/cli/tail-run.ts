import { toJson } from "@bufbuild/protobuf";
import { AgentServerMessageSchema } from "@keyturn/protocol/agent";
import { decodeServerMessage } from "@keyturn/protocol/codec";
import { lookUpRun } from "../engine/run-details.js";
import { openStoreReader } from "../store/open.js";
import type { StoredRecord } from "../store/port.js";
import { noSuchRun } from "./runs.js";
import { CliError, type CommonOptions, configOf, type Terminal } from "./terminal.js";

/** How often the log is looked at while a run goes on. */
const lookEveryMs = 250;
const batch = 256;
const maxLineLength = 200;

/**
 * `runs tail`: the frames of a run, one line each, until it ends or the command is interrupted. Reads the store's file
 * and is no subscriber: a look at a run must not keep it alive, nor be handed its executions.
 */
export async function tailRun(
  terminal: Terminal,
  options: CommonOptions & { readonly after: number },
  id: string,
): Promise<void> {
  const config = await configOf(terminal, options);
  const reader = await openStoreReader({ url: config.store.url, dataDir: config.dataDir });
  const pause = pauses(terminal);
  try {
    const row = await lookUpRun(reader.log, id);
    if (!row) throw new CliError(noSuchRun(id));
    for (let after = options.after; ; ) {
      const records = await reader.log.read(row.key, after, batch);
      for (const record of records) {
        after = record.position;
        if (record.frame) terminal.stdout.write(`${options.json ? jsonLine(record) : textLine(record)}\n`);
        if (record.kind === "ended") return;
      }
      if (records.length < batch && !(await pause())) return;
      // A run that is deleted meanwhile has no end to wait for.
      if (records.length === 0 && !(await reader.log.find(row.key))) return;
    }
  } finally {
    reader.close();
  }
}

/** Waits for the next look; false once the command was interrupted. */
function pauses(terminal: Terminal): () => Promise<boolean> {
  let wake = () => {};
  let interrupted = false;
  const stop = () => {
    if (interrupted) terminal.exit(1);
    interrupted = true;
    wake();
  };
  terminal.onSignal("SIGINT", stop);
  terminal.onSignal("SIGTERM", stop);
  return async () => {
    if (interrupted) return false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, lookEveryMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return !interrupted;
  };
}

function jsonLine({ position, at, kind, frame }: StoredRecord): string {
  return JSON.stringify({ position, at: new Date(at).toISOString(), kind, message: frame && readable(frame) });
}

function textLine({ position, at, kind, frame }: StoredRecord): string {
  const head = `${String(position).padStart(6)}  ${new Date(at).toISOString().slice(11, 23)}  ${kind.padEnd(20)}  `;
  const line = head + (frame ? JSON.stringify(readable(frame)) : "");
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength - 1)}…` : line;
}

function readable(frame: Uint8Array): unknown {
  return toJson(AgentServerMessageSchema, decodeServerMessage(frame));
}
