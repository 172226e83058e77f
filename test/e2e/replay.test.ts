import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { replayText } from "../../packages/server/src/compose-replay.js";
import { readRunFile } from "../../packages/server/src/replay/run-file.js";
import { runCommand } from "../support/command.js";
import { isUpdate, Session, type SessionOptions } from "../support/driver.js";
import { startTestServer, type TestServer } from "../support/server.js";
import type { VendorScript } from "../support/vendors/script.js";
import { startVendor } from "../support/vendors/start-vendor.js";
import { MemoryWorkspace } from "../support/workspace.js";

/**
 * What a server did can be decided again from its log alone (issue 4, "Deterministic replay"). The golden files are
 * exports of these very runs; KEYTURN_UPDATE_GOLDEN=1 writes them anew, which a change of what clients see needs.
 */
const golden = new URL("../fixtures/runs/", import.meta.url).pathname;
const canary = "canary-key-0123456789";

const cleanups: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

async function start(script: VendorScript): Promise<TestServer> {
  const vendor = await startVendor("openai-compatible", script);
  cleanups.push(vendor);
  const config = `
providers: { scripted: { type: openai-compatible, apiKey: ${canary}, baseURL: "${vendor.baseURL}" } }
models: [{ id: scripted, provider: scripted }]`;
  const server = await startTestServer({ config });
  cleanups.push(server);
  return server;
}

async function open(server: TestServer, requestId: string, more: Partial<SessionOptions> = {}): Promise<Session> {
  const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key, requestId, ...more });
  cleanups.push(session);
  return session;
}

/** Exports a run beside the running server and replays what was written. */
async function exported(server: TestServer, requestId: string): Promise<string> {
  const out = join(server.dataDir, `${requestId}.jsonl`);
  const done = await runCommand(["runs", "export", requestId, "--out", out], server.dataDir);
  expect([done.code, done.errors]).toEqual([0, ""]);
  return readFile(out, "utf8");
}

const runs: Readonly<Record<string, () => Promise<TestServer>>> = {
  "text-turn": async () => {
    const server = await start([
      { thinking: "A greeting.", text: "Hello to you, too.", usage: { input: 9, output: 5 } },
    ]);
    const workspace = new MemoryWorkspace();
    const session = await open(server, "text-turn", { onExec: workspace.answer });
    await session.ask("Hello!", { model: "scripted", conversationId: "golden-text" });
    expect(await session.ended).toEqual({ kind: "completed" });
    return server;
  },
  "tool-turn": async () => {
    const server = await start([
      {
        text: "I look.",
        calls: [
          { name: "Read", args: { path: "/project/a.txt" }, id: "call_a" },
          { name: "Read", args: { path: "/project/none.txt" }, id: "call_b" },
        ],
      },
      { calls: [{ name: "Shell", args: { command: "cat a.txt" }, id: "call_c" }] },
      { text: "It says one." },
    ]);
    const workspace = new MemoryWorkspace({ "a.txt": `one\nkey: ${canary}\n` });
    const session = await open(server, "tool-turn", { onExec: workspace.answer });
    await session.ask("What does a.txt say?", { model: "scripted", conversationId: "golden-tools" });
    expect(await session.ended).toEqual({ kind: "completed" });
    return server;
  },
  "canceled-turn": async () => {
    const server = await start([{ text: "This will take", hang: true, deltaCount: 1 }]);
    const workspace = new MemoryWorkspace();
    const session = await open(server, "canceled-turn", { onExec: workspace.answer });
    await session.ask("Count to a million.", { model: "scripted", conversationId: "golden-cancel" });
    await session.until((message) => isUpdate(message, "textDelta"));
    const action = { case: "cancelAction", value: { reason: "Enough." } } as const;
    await session.send({ case: "conversationAction", value: { action } });
    expect(await session.ended).toMatchObject({ kind: "error", code: "canceled" });
    return server;
  },
};

describe("a recorded run", () => {
  for (const [name, run] of Object.entries(runs)) {
    test(`${name}: exported beside the running server, it replays frame for frame`, async () => {
      const server = await run();
      const text = await exported(server, name);
      expect(text).not.toContain(canary);
      const { header, records } = readRunFile(text);
      expect(header).toMatchObject({ format: "keyturn-run", requestId: name, ended: true, records: records.length });
      const result = replayText(text);
      expect(result.mismatch).toBeUndefined();
      expect([result.records, result.otherContent]).toEqual([records.length, []]);
      expect(result.frames).toBeGreaterThan(5);
      if (process.env["KEYTURN_UPDATE_GOLDEN"] !== undefined) {
        await mkdir(golden, { recursive: true });
        await writeFile(join(golden, `${name}.jsonl`), text);
      }
    });

    test(`${name}: the golden file replays frame for frame`, async () => {
      const text = await readFile(join(golden, `${name}.jsonl`), "utf8");
      const { mismatch, otherContent, records } = replayText(text);
      expect({ mismatch, otherContent }).toEqual({ mismatch: undefined, otherContent: [] });
      expect(records).toBe(readRunFile(text).records.length);
    });
  }

  test("a secret that a tool read is in no field of the file, and the replay is the same all the same (I-143)", async () => {
    const { header, records } = readRunFile(await readFile(join(golden, "tool-turn.jsonl"), "utf8"));
    expect(header.redactions).toBeGreaterThan(2);
    for (const { body, payload, frame } of records) {
      const bytes = Buffer.concat([payload ?? new Uint8Array(), frame ?? new Uint8Array()]).toString("latin1");
      expect(JSON.stringify(body) + bytes).not.toContain(canary);
    }
  });

  test("a frame that is not what the core decides is shown as a difference, with exit code 1", async () => {
    const server = await start([]);
    const lines = (await readFile(join(golden, "text-turn.jsonl"), "utf8")).split("\n");
    const at = lines.findIndex((line) => line.includes('"text-added"') && line.includes('"text"'));
    const changed = lines.with(at, (lines[at] ?? "").replace(/("kind":"text-added".*?"text":")([^"]*)/, "$1$2 there"));
    const file = join(server.dataDir, "changed.jsonl");
    await writeFile(file, changed.join("\n"));
    const same = await runCommand(["runs", "replay", join(golden, "text-turn.jsonl")], server.dataDir);
    expect([same.code, same.out]).toEqual([
      0,
      expect.stringMatching(/^the same: \d+ frames, \d+ records, from \d+ inputs\n$/),
    ]);
    const { code, out, errors } = await runCommand(["runs", "replay", file], server.dataDir);
    expect([code, errors]).toEqual([1, `keyturn: the replay differs at position ${at}\n`]);
    expect(out).toMatch(
      /^position \d+ \(text-added\), input "pass delta": frame interactionUpdate\.\w+\.text differs\n- recorded ".*"\n\+ replayed ".* there"\n/,
    );
    const json = JSON.parse((await runCommand(["runs", "replay", file, "--json"], server.dataDir)).out) as object;
    expect(json).toMatchObject({ same: false, mismatch: { position: at } });
  });

  test("what is no run, or only a part of one, is one clear line", async () => {
    const server = await start([]);
    const missing = await runCommand(["runs", "export", "no-such-run"], server.dataDir);
    expect(missing).toEqual({ code: 1, out: "", errors: expect.stringContaining("there is no run no-such-run") });
    const file = join(server.dataDir, "cut.jsonl");
    const text = await readFile(join(golden, "text-turn.jsonl"), "utf8");
    await writeFile(file, text.split("\n").slice(0, 9).join("\n"));
    expect((await runCommand(["runs", "replay", file], server.dataDir)).errors).toMatch(
      /holds 8: it was cut or edited\n$/,
    );
    await writeFile(file, text.replace('"formatVersion":1', '"formatVersion":2'));
    expect((await runCommand(["runs", "replay", file], server.dataDir)).errors).toContain("reads up to 1");
    await writeFile(file, "hello");
    expect((await runCommand(["runs", "replay", file], server.dataDir)).code).toBe(1);
    expect((await runCommand(["runs", "replay", join(server.dataDir, "none")], server.dataDir)).errors).toContain(
      "none",
    );
  });
});
