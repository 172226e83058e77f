import { afterAll, beforeAll, expect, test } from "vitest";
import { isUpdate, Session } from "../support/driver.js";
import { exchange } from "../support/post.js";
import { startServerProcess, temporaryFolder } from "../support/server-process.js";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

test("a real process serves a run, stops gracefully, and serves the run again after a restart (R6)", async () => {
  const first = await startServerProcess(folder.path);
  const session = await Session.open({
    baseUrl: first.baseUrl,
    bearer: first.key,
    onExec: () => [{ case: "requestContextResult", value: { result: { case: "error", value: { error: "none" } } } }],
  });
  await session.ask("hello");
  expect(await session.ended).toEqual({ kind: "completed" });
  expect(await first.stop()).toBe(0);
  expect(first.log()).not.toContain(first.key);

  const second = await startServerProcess(folder.path);
  const again = await Session.open({ baseUrl: second.baseUrl, bearer: second.key, requestId: session.requestId });
  expect(await again.ended).toEqual({ kind: "completed" });
  expect(again.text).toBe(session.text);
  expect(again.messages.filter((message) => isUpdate(message, "turnEnded"))).toHaveLength(1);
  expect(await second.stop("SIGINT")).toBe(0);
});

test("a stopping server ends its streams and is not ready [part of D5]", async () => {
  const server = await startServerProcess(folder.path);
  const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key, onExec: () => undefined });
  await session.ask("hello");
  await session.until(({ message }) => message.case === "execServerMessage");
  expect((await exchange(server.baseUrl, { method: "GET", path: "/readyz" })).status).toBe(200);
  const stopped = server.stop();
  expect(await session.ended).toMatchObject({ kind: "error", code: "unavailable" });
  expect(await stopped).toBe(0);
});
