import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import type { LogRecord } from "../../packages/server/src/engine/ports.js";
import { encodeRecord } from "../../packages/server/src/engine/record-codec.js";
import { exportRun } from "../../packages/server/src/replay/export-run.js";
import { type ReplayResult, replayRun } from "../../packages/server/src/replay/replay-run.js";
import { readRunFile, writeRunFile } from "../../packages/server/src/replay/run-file.js";
import { wireCodec } from "../../packages/server/src/rpc/wire-codec.js";
import type { RecordDraft } from "../../packages/server/src/run/draft.js";
import { createRedaction } from "../../packages/server/src/telemetry/redact.js";
import { begin } from "./support/client-steps.js";
import { Ledger } from "./support/ledger.js";
import { runDry } from "./support/rest-rule.js";
import { walks } from "./support/run-commands.js";
import { epoch, RunDriver } from "./support/run-driver.js";
import { toyLogic } from "./support/toy-logic.js";

/**
 * Whatever a run went through, its log holds enough to decide everything again: the inputs that its records give lead
 * to the same records and the same frames. KEYTURN_SEED and KEYTURN_PATH repeat a failure, as in run-core.test.ts.
 */
const seed = process.env["KEYTURN_SEED"];
const chosen = seed === undefined ? {} : { seed: Number(seed), path: process.env["KEYTURN_PATH"] ?? "" };
const runs = Number(process.env["KEYTURN_RUNS"] ?? 300);

const services = { logic: toyLogic, encode: wireCodec.encodeServerMessage };

function stored(drafts: readonly RecordDraft[]): LogRecord[] {
  return drafts.map(({ record, at, frame }, index) => {
    const bytes = frame ? ("encoded" in frame ? frame.encoded : wireCodec.encodeServerMessage(frame)) : null;
    return { position: index + 1, fence: 1, at, ...encodeRecord(record), frame: bytes };
  });
}

/** Out of the log into a file's text, and from that text through the core again. */
async function again(drafts: readonly RecordDraft[], secrets: readonly string[] = []): Promise<ReplayResult> {
  const records = stored(drafts);
  const source = {
    read: (_key: unknown, after: number, limit: number) => Promise.resolve(records.slice(after, after + limit)),
  };
  const run = { key: { requestId: "run", generation: 0 }, createdAt: epoch, ended: true, conversationId: null };
  const redact = createRedaction(secrets, (secret) => "*".repeat(secret.length));
  const text = writeRunFile(await exportRun(source, run, { server: "0.0.0", redact }));
  const file = readRunFile(text);
  const written = file.records.map(({ kind, body }) => (kind === "text-added" ? (body as { text: string }).text : "|"));
  for (const secret of secrets) assert.ok(!written.join("").includes(secret), "the secret is left in the file");
  return replayRun(file, services);
}

const walk = (secrets: readonly string[]) =>
  fc.asyncProperty(walks, async ([base, conversation, commands]) => {
    const ledger = new Ledger();
    const drafts: RecordDraft[] = [];
    const driver = new RunDriver((before, input, decision) => {
      ledger.observe(before, input, decision);
      drafts.push(...decision.records);
    });
    const drive = begin(driver, base, conversation);
    fc.modelRun(() => ({ model: ledger, real: drive }), commands);
    runDry(driver, "silent");
    const result = await again(drafts, secrets);
    assert.deepEqual(result.mismatch, undefined);
    assert.equal(result.records, drafts.length);
    assert.equal(result.frames, drafts.filter(({ frame }) => frame !== undefined).length);
    if (secrets.length === 0) assert.deepEqual(result.otherContent, []);
  });

describe("a run's log under random walks", () => {
  it("replays to the same records and the same frames, byte for byte", async () => {
    await fc.assert(walk([]), { numRuns: runs, ...chosen });
  });

  it("replays to the same frames when a secret of its messages was taken out", async () => {
    await fc.assert(walk(["rd wor", "disk full"]), { numRuns: Math.ceil(runs / 3), ...chosen });
  });
});
