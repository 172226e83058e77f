import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentClientMessageSchema, type AgentServerMessage } from "@keyturn/protocol/agent";
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

/** The number of the step that the message starts. */
function stepOf({ message: of }: AgentServerMessage): bigint | undefined {
  const update = of.case === "interactionUpdate" ? of.value.message : undefined;
  return update?.case === "stepStarted" ? update.value.stepId : undefined;
}

/** Log lines with these words. */
const lines = (server: TestServer, words: string) => server.log.filter((line) => line.includes(words));

describe("a damaged log", () => {
  test("D3: a flipped byte sets one run aside: said once, its readers are told, all others go on", async () => {
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
    const database = await raw(server);
    const rows = database.all("SELECT id, last_position FROM runs");
    await server.server.close();
    // As if the process had died before it could end them: both runs are in the middle of a pass.
    for (const { id = 0, last_position: last = 0 } of rows) {
      database.run("UPDATE runs SET ended = 0, ended_at = NULL, last_position = ? WHERE id = ?", last, id);
      database.run("DELETE FROM records WHERE run = ? AND position > ?", id, last);
    }
    database.exec(
      `UPDATE records SET body = replace(body, 'of-', 'oF-') WHERE kind = 'run-accepted' AND ${ofRun("flipped")}`,
    );
    database.close();
    for (const run of runs) run.close();

    await server.restart();
    // The sound run was taken over: its model is called again.
    const sound = await open(server, "sound", { onExec: workspace.answer });
    await sound.until((message) => stepOf(message) === 2n);

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

    const fresh = await open(server, "fresh", { onExec: workspace.answer });
    await fresh.ask("hello", { model: "demo" });
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
    // Large enough not to fit into what is left of the pages that are in use.
    const message = userMessage("hello ".repeat(10_000), { conversationId: "full" });
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
    const again = await open(server, "full", { firstNumber: 1, onExec: new MemoryWorkspace().answer });
    expect(await again.ended).toEqual({ kind: "completed" });
    expect(again.messages.filter((one) => isUpdate(one, "userMessageAppended"))).toHaveLength(1);
  });

  test("a stop on a full disk comes to its end, its run is left as the log has it", async () => {
    const server = await start("store: { maxSizeBytes: 1048576 }\nlimits: { stopGraceMs: 500 }");
    const session = await open(server, "stopped");
    await session.ask("hello");
    const database = await raw(server);
    cleanups.push(database);
    database.exec("CREATE TABLE filler (bytes BLOB)");
    database.run("INSERT INTO filler VALUES (zeroblob(?))", 1_048_576);
    await server.server.close();
    expect(lines(server, "records could not be stored").length).toBeLessThan(3);
    expect(database.get("SELECT count(*) AS count FROM runs WHERE ended = 0")?.count).toBe(1);
  });
});
