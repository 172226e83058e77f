import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { replayText } from "../compose-replay.js";
import { lookUpRun } from "../engine/run-details.js";
import { exportRun } from "../replay/export-run.js";
import type { Mismatch } from "../replay/replay-run.js";
import { RunFileError, writeRunFile } from "../replay/run-file.js";
import { FaultError } from "../run/faults.js";
import { openStoreReader } from "../store/open.js";
import { createRedaction } from "../telemetry/redact.js";
import { version } from "../version.js";
import { noSuchRun } from "./runs.js";
import { CliError, type CommonOptions, configOf, print, type Terminal } from "./terminal.js";

/**
 * `runs export`: writes a run as one file, secrets taken out, to `--out` or to standard output. Reads the store's file
 * beside a running server.
 */
export async function exportRunFile(
  terminal: Terminal,
  options: CommonOptions & { readonly out?: string },
  id: string,
): Promise<void> {
  const config = await configOf(terminal, options);
  const reader = await openStoreReader({ url: config.store.url, dataDir: config.dataDir });
  try {
    const row = await lookUpRun(reader.log, id);
    const run = row && (await reader.log.find(row.key));
    if (!run) throw new CliError(noSuchRun(id));
    const redact = createRedaction(config.secrets, (secret) => "*".repeat(secret.length));
    const file = await exportRun(reader.log, run, { server: version, redact }).catch(toCliError);
    const text = writeRunFile(file);
    if (options.out === undefined) return void terminal.stdout.write(text);
    const out = resolve(terminal.workingDirectory, options.out);
    // What a run read and wrote is nobody else's business.
    await writeFile(out, text, { mode: 0o600 });
    const { records, redactions } = file.header;
    const redacted = redactions === 0 ? "" : `, secrets taken out of ${redactions} of them`;
    print(terminal, options, { file: out, records, redactions }, [`wrote ${records} records to ${out}${redacted}`]);
  } finally {
    reader.close();
  }
}

/**
 * `runs replay`: feeds what an exported run was given to this version's core and compares every frame. Rejects with a
 * CliError, after the difference is printed, when one is not the same.
 */
export async function replayRunFile(terminal: Terminal, options: CommonOptions, name: string): Promise<void> {
  const text = await readFile(resolve(terminal.workingDirectory, name), "utf8").catch((cause: Error) => {
    throw new CliError(`${name} cannot be read: ${cause.message}`, { cause });
  });
  const result = await Promise.resolve()
    .then(() => replayText(text))
    .catch(toCliError);
  const { records, frames, inputs, otherContent, mismatch } = result;
  const lines = [
    ...(mismatch ? mismatchLines(mismatch) : []),
    `${mismatch ? "the same until there" : "the same"}: ${frames} frames, ${records} records, from ${inputs} inputs`,
    ...otherContent.slice(0, 20).map((position) => `record ${position} has the same frame and another content`),
  ];
  print(terminal, options, { same: mismatch === undefined, ...result }, lines);
  if (mismatch) throw new CliError(`the replay differs at position ${mismatch.position}`);
}

function mismatchLines({ position, kind, input, field, recorded, replayed }: Mismatch): string[] {
  return [
    `position ${position} (${kind}), input "${input}": ${field} differs`,
    `- recorded ${recorded}`,
    `+ replayed ${replayed}`,
  ];
}

function toCliError(error: unknown): never {
  if (error instanceof RunFileError) throw new CliError(error.message, { cause: error });
  if (FaultError.is(error)) throw new CliError(`${error.fault.title}: ${error.fault.detail}`, { cause: error });
  throw error;
}
