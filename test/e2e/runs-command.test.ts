import { afterEach, describe, expect, test } from "vitest";
import { runCommand, startCommand } from "../support/command.js";
import { isUpdate, Session, type SessionOptions } from "../support/driver.js";
import { startTestServer, type TestServer } from "../support/server.js";
import { startVendor } from "../support/vendors/start-vendor.js";
import { MemoryWorkspace } from "../support/workspace.js";

const cleanups: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

/** A run whose model has written a little and goes on only when it is let. */
async function startHeld(requestId: string) {
  let letGo = () => {};
  const holdUntil = new Promise<void>((resolve) => (letGo = resolve));
  const vendor = await startVendor("openai-compatible", [
    { calls: [{ name: "Read", args: { path: "/project/a.txt" }, id: "call_a" }] },
    { text: "so far", deltaCount: 1, holdUntil },
  ]);
  cleanups.push(vendor);
  const server = await startTestServer({
    config: `
providers: { scripted: { type: openai-compatible, apiKey: k-0123456789, baseURL: "${vendor.baseURL}" } }
models: [{ id: scripted, provider: scripted }]`,
  });
  cleanups.push(server);
  const workspace = new MemoryWorkspace({ "a.txt": "AAA" });
  const options: SessionOptions = { baseUrl: server.baseUrl, bearer: server.key, requestId, onExec: workspace.answer };
  const session = await Session.open(options);
  cleanups.push(session);
  await session.ask("go", { model: "scripted", conversationId: "agent-1" });
  await session.until((message) => isUpdate(message, "textDelta"));
  return { server, session, letGo };
}

const access = (server: TestServer) => ({ KEYTURN_PORT: new URL(server.baseUrl).port, KEYTURN_API_KEY: server.key });

describe("keyturn runs", () => {
  test("show, tail and cancel a live run of the running server", async () => {
    const { server, session } = await startHeld("live");
    const shown = JSON.parse(
      (await runCommand(["runs", "show", "live", "--json"], server.dataDir, access(server))).out,
    ) as object;
    expect(shown).toMatchObject({
      requestId: "live",
      generation: 0,
      conversationId: "agent-1",
      model: "scripted",
      phase: "provider_running",
      outcome: null,
      passes: 2,
      subscribers: 1,
      calls: [{ name: "Read", status: "closed" }],
    });
    const tail = startCommand(["runs", "tail", "live"], server.dataDir);
    await tail.printed('"text":"so far"');
    const canceled = await runCommand(["runs", "cancel", "live"], server.dataDir, access(server));
    expect(canceled).toEqual({ code: 0, out: "canceled live\n", errors: "" });
    expect(await session.ended).toMatchObject({ kind: "error", code: "canceled" });
    // It ends with the run.
    const { code, out } = await tail.result;
    expect(code).toBe(0);
    expect(out.trim().split("\n").at(-1)).toMatch(/^ *\d+ {2}[\d:.]{12} {2}notice .*turnEnded/);
    const after = await runCommand(["runs", "show", "live"], server.dataDir, access(server));
    expect(after.out).toMatch(/\noutcome +The run was canceled: Canceled by /);
    const twice = await runCommand(["runs", "cancel", "live"], server.dataDir, access(server));
    expect([twice.code, twice.errors]).toEqual([1, "keyturn: There is no live run with this request id.\n"]);
  });

  test("a tail is no subscriber, goes on from a position, and ends when it is interrupted", async () => {
    const { server, session, letGo } = await startHeld("watched");
    const tail = startCommand(["runs", "tail", "watched", "--json", "--after", "3"], server.dataDir);
    await tail.printed("so far");
    const shown = await runCommand(["runs", "show", "watched", "--json"], server.dataDir, access(server));
    expect(JSON.parse(shown.out)).toMatchObject({ subscribers: 1 });
    tail.interrupt();
    const { code, out } = await tail.result;
    const [first] = out.split("\n");
    expect([code, JSON.parse(first ?? "")]).toEqual([
      0,
      {
        position: expect.any(Number),
        at: expect.stringMatching(/Z$/),
        kind: expect.any(String),
        message: expect.any(Object),
      },
    ]);
    expect((JSON.parse(first ?? "") as { position: number }).position).toBeGreaterThan(3);
    letGo();
    expect(await session.ended).toEqual({ kind: "completed" });
  });

  test("without a server the log is asked; an earlier generation has its number; an unknown run is said", async () => {
    const server = await startTestServer();
    cleanups.push(server);
    const onExec = new MemoryWorkspace().answer;
    for (let time = 0; time < 2; time += 1) {
      const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key, requestId: "twice", onExec });
      cleanups.push(session);
      await session.ask(`hello ${time}`);
      expect(await session.ended).toEqual({ kind: "completed" });
    }
    const unknown = await runCommand(["runs", "show", "none"], server.dataDir, access(server));
    expect([unknown.code, unknown.errors]).toEqual([1, "keyturn: There is no run with this request id.\n"]);
    await server.server.close();
    const generations = await Promise.all(
      ["twice", "twice#0"].map(
        async (id) =>
          JSON.parse((await runCommand(["runs", "show", id, "--json"], server.dataDir)).out) as { generation: number },
      ),
    );
    expect(generations.map(({ generation }) => generation)).toEqual([1, 0]);
    expect((await runCommand(["runs", "show", "none"], server.dataDir)).errors).toContain("there is no run none");
    expect((await runCommand(["runs", "cancel", "twice"], server.dataDir)).errors).toBe(
      "keyturn: the run has ended already\n",
    );
    expect((await runCommand(["runs", "tail", "twice", "--after", "x"], server.dataDir)).code).toBe(2);
  });
});
