import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { checkNode } from "../../packages/server/src/cli/doctor/doctor.js";
import { loadSqlite } from "../../packages/server/src/store/sqlite/database.js";
import { runCommand } from "../support/command.js";
import { Session } from "../support/driver.js";
import { startTestServer, type TestServer } from "../support/server.js";
import { MemoryWorkspace } from "../support/workspace.js";

const cleanups: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const onExec = new MemoryWorkspace().answer;

async function startWithRuns(...requestIds: readonly string[]): Promise<TestServer> {
  const server = await startTestServer({ config: "server: { heartbeatMs: 100 }" });
  cleanups.push(server);
  for (const requestId of requestIds) {
    const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key, requestId, onExec });
    cleanups.push(session);
    await session.ask("hello", { conversationId: `of-${requestId}` });
    await session.ended;
  }
  return server;
}

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly { check: string; healthy: boolean; says: string; next?: string }[];
}

async function examine(server: TestServer, args: readonly string[] = [], dataDir = server.dataDir) {
  const environment = { KEYTURN_PORT: new URL(server.baseUrl).port };
  const { code, out } = await runCommand(["doctor", "--json", ...args], dataDir, environment);
  const report = JSON.parse(out) as Report;
  return { code, report, problems: report.findings.filter((finding) => !finding.healthy) };
}

/** Changes the store behind the server's back. */
async function behindItsBack(dataDir: string, ...statements: readonly string[]): Promise<void> {
  const database = (await loadSqlite())(join(dataDir, "keyturn.db"));
  for (const sql of statements) database.exec(sql);
  database.close();
}

const ofRun = (requestId: string) => `run = (SELECT id FROM runs WHERE request_id = '${requestId}')`;

describe("keyturn doctor", () => {
  test("finds a running server healthy, counts what it has, and a stream's first byte through its address", async () => {
    const server = await startWithRuns("run-a", "run-b");
    await chmod(server.dataDir, 0o700);
    const { code, report, problems } = await examine(server, ["--url", server.baseUrl, "--api-key", server.key]);
    expect([code, report.healthy, problems]).toEqual([0, true, []]);
    const said = (check: string) => report.findings.filter((one) => one.check === check).map(({ says }) => says);
    expect(said("store")).toEqual([
      expect.stringMatching(/keyturn\.db, a server is using it$/),
      expect.stringMatching(/^2 runs \(0 unfinished\), \d+ records, 2 conversations, \d+ blobs, \d+\.\d MB$/),
    ]);
    expect(said("server")).toEqual([expect.stringMatching(/ is ready, answered in \d+ ms$/)]);
    expect(said("stream")).toEqual([expect.stringMatching(/^headers after \d+ ms, the first heartbeat after \d+ ms/)]);
    const lines = await runCommand(["doctor"], server.dataDir, { KEYTURN_PORT: new URL(server.baseUrl).port });
    expect([lines.code, lines.errors]).toEqual([0, ""]);
    expect(lines.out).toMatch(/^ok {7}node {9}Node \d/);
  });

  test("a flipped byte and a cut tail harm one run each, and are named with the next step", async () => {
    const server = await startWithRuns("flipped", "cut", "sound");
    await behindItsBack(
      server.dataDir,
      `UPDATE records SET body = replace(body, 'of-', 'oF-') WHERE kind = 'run-accepted' AND ${ofRun("flipped")}`,
      `DELETE FROM records WHERE kind = 'ended' AND ${ofRun("cut")}`,
      "UPDATE blobs SET bytes = x'00' WHERE rowid = 1",
    );
    const { code, report, problems } = await examine(server);
    expect([code, report.healthy]).toEqual([1, false]);
    expect(problems.filter(({ check }) => check === "runs").map(({ says }) => says)).toEqual([
      expect.stringMatching(/^run cut cannot be read: record \d+ of run cut is missing$/),
      expect.stringMatching(/^run flipped cannot be read: record \d+ of run flipped is damaged$/),
    ]);
    expect(problems.map(({ check }) => check)).toContain("blobs");
    for (const { next } of problems) expect(next).toMatch(/\w/);
  });

  test("files that others can read, and a configuration that cannot be used", async () => {
    const server = await startWithRuns();
    await chmod(server.dataDir, 0o755);
    await chmod(join(server.dataDir, "keyturn.db"), 0o640);
    const { code, problems } = await examine(server);
    expect(code).toBe(1);
    expect(problems.map(({ next }) => next)).toEqual([
      `chmod go-rwx ${server.dataDir}`,
      `chmod go-rwx ${join(server.dataDir, "keyturn.db")}`,
    ]);
    const config = join(server.dataDir, "bad.yaml");
    await writeFile(config, "server: { prot: 1 }\n");
    const bad = await runCommand(["doctor", "--config", config], server.dataDir);
    expect(bad).toMatchObject({ code: 1, errors: "keyturn: one problem was found\n" });
    expect(bad.out).toMatch(/PROBLEM {2}config .*bad\.yaml:1:11/);
  });

  test("no data yet is healthy; a copy of the store is looked at without a server; a file of another program is not", async () => {
    const server = await startWithRuns("run-a");
    const folder = join(server.dataDir, "copy");
    const empty = await examine(server, [], folder);
    expect(empty.problems.map(({ check }) => check)).toEqual([]);
    await server.server.close();
    await mkdir(folder, { mode: 0o700 });
    await copyFile(join(server.dataDir, "keyturn.db"), join(folder, "keyturn.db"));
    const copied = await examine(server, [], folder);
    expect(copied.report.findings.map(({ says }) => says)).toContainEqual(
      expect.stringMatching(/no server is using it$/),
    );
    expect(copied.code).toBe(0);
    await writeFile(join(folder, "keyturn.db"), "not a database, but long enough to look like one".repeat(100));
    expect((await examine(server, [], folder)).problems).toMatchObject([
      { check: "store", next: expect.stringContaining("backup") },
    ]);
  });

  test("an address where nothing answers, and one that holds streams back", async () => {
    const server = await startWithRuns();
    await chmod(server.dataDir, 0o700);
    const holding = createServer((request, response) => {
      if (request.url === "/readyz") return void response.end("ready\n");
      response.writeHead(200).flushHeaders();
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => holding.once("listening", resolve));
    const url = `http://127.0.0.1:${(holding.address() as AddressInfo).port}`;
    const held = await examine(server, ["--url", url, "--api-key", server.key]);
    expect(held.problems).toMatchObject([{ check: "stream", next: expect.stringContaining("buffering") }]);
    holding.closeAllConnections();
    await new Promise((resolve) => holding.close(resolve));
    const { problems } = await examine(server, ["--url", url]);
    expect(problems).toMatchObject([{ check: "server", says: expect.stringContaining("does not answer") }]);
    expect((await runCommand(["doctor", "--url", "nowhere"], server.dataDir)).code).toBe(2);
  });

  test("knows the Node it needs", () => {
    expect(["18.20.0", "20.18.0", "20.19.0", "24.1.0"].map((node) => checkNode(node).healthy)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
