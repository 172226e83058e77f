import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentClientMessageSchema } from "@keyturn/protocol/agent";
import { encodeClientMessage } from "@keyturn/protocol/codec";
import { afterEach, describe, expect, test } from "vitest";
import type { Database } from "../../packages/server/src/store/sqlite/database.js";
import { loadSqlite } from "../../packages/server/src/store/sqlite/database.js";
import { isUpdate, Session, type SessionOptions, userMessage } from "../support/driver.js";
import { startTestServer, type TestServer } from "../support/server.js";
import { startVendor } from "../support/vendors/start-vendor.js";
import { MemoryWorkspace } from "../support/workspace.js";

const cleanups: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

async function start(config: string): Promise<TestServer> {
  const server = await startTestServer({ config });
  cleanups.push(server);
  return server;
}

async function open(server: TestServer, requestId: string, more: Partial<SessionOptions> = {}): Promise<Session> {
  const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key, requestId, ...more });
  cleanups.push(session);
  return session;
}

/** A second connection to the store. */
async function raw(server: TestServer): Promise<Database & AsyncDisposable> {
  const database = (await loadSqlite())(join(server.dataDir, "keyturn.db"));
  database.exec("PRAGMA busy_timeout = 5000");
  const disposable = Object.assign(database, { [Symbol.asyncDispose]: async () => database.close() });
  return disposable;
}

const ofRun = (requestId: string) => `run = (SELECT id FROM runs WHERE request_id = '${requestId}')`;

/** Log lines with these words. */
const lines = (server: TestServer, words: string) => server.log.filter((line) => line.includes(words));

describe("a damaged log", () => {
  test("a flipped byte sets one run aside: said once, its readers are told, all others go on (D3, I-37)", async () => {
    const vendor = await startVendor("openai-compatible", () => ({ text: "on it", hang: true }));
    cleanups.push(vendor);
    const server = await start(`
providers: { scripted: { type: openai-compatible, apiKey: k-0123456789, baseURL: "${vendor.baseURL}" } }
models: [{ id: scripted, provider: scripted }]
limits: { stopGraceMs: 0 }`);
    const workspace = new MemoryWorkspace();
    const runs = await Promise.all(
      ["flipped", "sound"].map(async (requestId) => {
        const session = await open(server, requestId, { onExec: workspace.answer });
        await session.ask("go", { model: "scripted", conversationId: `of-${requestId}` });
        await session.until((message) => isUpdate(message, "textDelta"));
        return session;
      }),
    );
    // A crash, as far as the log can tell: both runs are in the middle of a pass, with nobody to end them.
    for (const run of runs) run.close();
    const database = await raw(server);
    const kept = database.all("SELECT * FROM records");
    const rows = database.all("SELECT * FROM runs");
    await server.server.close();
    for (const row of rows) {
      database.run(
        "UPDATE runs SET ended = 0, ended_at = NULL, last_position = ? WHERE id = ?",
        row.last_position ?? 0,
        row.id ?? 0,
      );
      const last = Math.max(...kept.filter(({ run }) => run === row.id).map(({ position }) => Number(position)));
      database.run("DELETE FROM records WHERE run = ? AND position > ?", row.id ?? 0, last);
    }
    database.exec(
      `UPDATE records SET body = replace(body, 'of-', 'oF-') WHERE kind = 'run-accepted' AND ${ofRun("flipped")}`,
    );
    database.close();

    const before = vendor.requests.length;
    await server.restart();
    // The sound run was taken over: its model is called again.
    const sound = await open(server, "sound", { onExec: workspace.answer });
    await sound.until((message) => isUpdate(message, "stepStarted"));
    while (vendor.requests.length === before) await new Promise((resolve) => setImmediate(resolve));

    for (let time = 0; time < 2; time += 1) {
      const flipped = await open(server, "flipped");
      expect(await flipped.ended).toMatchObject({
        kind: "error",
        code: "data_loss",
        message: expect.stringMatching(/record \d+ of run flipped is damaged/),
      });
    }
    expect(lines(server, "a run was set aside")).toHaveLength(1);
    expect(lines(server, "could not be taken over")).toHaveLength(0);
    expect(lines(server, "a stream failed")).toHaveLength(0);

    const fresh = await open(server, "fresh");
    await fresh.ask("hello");
    expect(await fresh.ended).toEqual({ kind: "completed" });
  });
});

describe("a full disk", () => {
  test("nothing is acknowledged that is not stored, and the service comes back with the space (A4)", async () => {
    const server = await start("store: { maxSizeBytes: 1048576 }");
    const database = await raw(server);
    cleanups.push(database);
    // All room that the server has left is taken, by pages it could use once they are free.
    database.exec("CREATE TABLE filler (bytes BLOB)");
    database.run("INSERT INTO filler VALUES (zeroblob(?))", 1_048_576);
    const message = userMessage("hello", { conversationId: "full" });
    const bytes = encodeClientMessage(create(AgentClientMessageSchema, { message }));
    const session = await open(server, "full");
    const refused = await session.append(0, bytes);
    expect([refused.status, refused.body.toString()]).toEqual([
      503,
      expect.stringContaining("The log could not be written"),
    ]);
    const stored = "SELECT count(*) AS count FROM records";
    expect(database.get(stored)?.count).toBe(0);

    database.exec("DROP TABLE filler");
    // The stream that saw the failure was let go; the same append under the same number is the client's way back.
    expect((await session.append(0, bytes)).status).toBe(200);
    expect(Number(database.get(stored)?.count)).toBeGreaterThan(0);
    const again = await open(server, "full", { firstNumber: 1 });
    expect(await again.ended).toEqual({ kind: "completed" });
    expect(again.messages.filter((one) => isUpdate(one, "userMessageAppended"))).toHaveLength(1);
  });
});
