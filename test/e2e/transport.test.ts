import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AgentClientMessageSchema, BidiRequestIdSchema } from "@keyturn/protocol/agent";
import { BidiAppendRequestSchema, ErrorDetails_Error, ErrorDetailsSchema } from "@keyturn/protocol/aiserver";
import { encodeClientMessage, encodeEnvelope, encodeHex } from "@keyturn/protocol/codec";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTurn } from "../../packages/server/src/turn/turn.js";
import { type ClientMessageInit, isUpdate, Session, type SessionOptions, userMessage } from "../support/driver.js";
import { exchange } from "../support/post.js";
import { openRunSse, type StreamEnd } from "../support/run-stream.js";
import { startTestServer, type TestServer } from "../support/server.js";

const appendPath = "/aiserver.v1.BidiService/BidiAppend";
const ssePath = "/agent.v1.AgentService/RunSSE";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    config: "server: { heartbeatMs: 100, maxBodyBytes: 200000 }\nlimits: { stopGraceMs: 200 }",
  });
});
afterAll(() => server[Symbol.asyncDispose]());

function options(more: Partial<SessionOptions> = {}): SessionOptions {
  return {
    baseUrl: server.baseUrl,
    bearer: server.key,
    onExec: () => [
      { case: "requestContextResult", value: { result: { case: "error", value: { error: "not in this test" } } } },
    ],
    ...more,
  };
}

const bytesOf = (message: ClientMessageInit) => encodeClientMessage(create(AgentClientMessageSchema, { message }));
const authorization = () => ({ authorization: `Bearer ${server.key}` });

/** The run is in this server's memory, by request id. */
const run = (requestId: string) => server.server.host.list().find(({ key }) => key.requestId === requestId);

async function eventually(what: string, holds: () => boolean): Promise<void> {
  const until = Date.now() + 10_000;
  while (!holds()) {
    if (Date.now() > until) throw new Error(`not so after 10 s: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("RunSSE and BidiAppend", () => {
  test("a stream before the first append carries the whole run (T1, T2, T8)", async () => {
    const session = await Session.open(options());
    await session.ask("hello");
    expect(await session.ended).toEqual({ kind: "completed" });
    expect(session.text).toContain("fixed script");
    expect(session.messages.some((message) => isUpdate(message, "turnEnded"))).toBe(true);
  });

  test("a stream after the first append, and one after the end, give the same frames (R3, R6)", async () => {
    const requestId = randomUUID();
    await Session.detached(options({ requestId })).ask("hello");
    const first = await Session.open(options({ requestId, firstNumber: 1 }));
    expect(await first.ended).toEqual({ kind: "completed" });
    const again = await Session.open(options({ requestId, blobs: false, onExec: () => undefined }));
    expect(await again.ended).toEqual({ kind: "completed" });
    const lasting = first.messages.flatMap(({ message }, index) =>
      ["kvServerMessage", "execServerMessage"].includes(message.case ?? "") || isHeartbeat(first, index)
        ? []
        : [first.frames[index]],
    );
    expect(again.frames).toEqual(lasting);
  });

  test("the response has exactly these headers, before any message (T3, T4)", async () => {
    const session = await Session.open(options());
    const { date, ...headers } = session.stream.headers;
    expect(date).toBeDefined();
    expect(session.stream.status).toBe(200);
    expect(headers).toEqual({
      "content-type": "application/connect+proto",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "transfer-encoding": "chunked",
      connection: "close",
    });
    session.close();
  });

  test("an empty body falls back to x-request-id; a blank id is refused (T2)", async () => {
    const requestId = randomUUID();
    const ended = endOf({ ...authorization(), "x-request-id": requestId }, new Uint8Array());
    await eventually("the run is subscribed to", () => run(requestId)?.subscribers === 1);
    await server.server.host.cancel(requestId, { code: "run/canceled", title: "Canceled", detail: "by the test" });
    expect(await ended).toMatchObject({ kind: "error", code: "canceled", details: [] });

    const blank = await endOf({ ...authorization(), "x-request-id": requestId }, requestIdEnvelope("  "));
    expect(blank).toMatchObject({
      kind: "error",
      code: "invalid_argument",
      message: expect.stringContaining("request_id"),
    });
    const none = await endOf(authorization(), new Uint8Array());
    expect(none).toMatchObject({ code: "invalid_argument", message: expect.stringContaining("x-request-id") });
    const garbage = await endOf(authorization(), encodeEnvelope(0, Uint8Array.of(0xff)));
    expect(garbage).toMatchObject({ code: "invalid_argument", message: expect.stringContaining("BidiRequestId") });
  });

  test("a stream resumes after the position the client names (R3)", async () => {
    const session = await Session.open(options());
    await session.ask("hello");
    await session.ended;
    const rest = await Session.open(
      options({ requestId: session.requestId, headers: { "keyturn-position": "100000" } }),
    );
    expect(await rest.ended).toEqual({ kind: "completed" });
    expect(rest.frames).toEqual([]);
    const bad = await Session.open(options({ headers: { "keyturn-position": "-1" } }));
    expect(await bad.ended).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("keyturn-position"),
    });
  });

  test("appends that arrive out of order and twice have one effect (A1, A2)", async () => {
    const session = await Session.open(options({ onExec: () => undefined }));
    const heartbeat = bytesOf({ case: "clientHeartbeat", value: {} });
    const start = bytesOf(userMessage("hello"));
    expect((await session.append(1, heartbeat)).status).toBe(200);
    expect((await session.append(0, start)).status).toBe(200);
    const ack = await session.append(0, start);
    expect([ack.status, ack.headers["content-type"], ack.body.length]).toEqual([200, "application/proto", 0]);
    const other = await session.append(0, bytesOf(userMessage("something else")));
    expect([other.status, JSON.parse(other.body.toString()).code]).toEqual([409, "already_exists"]);
    await session.until(({ message }) => message.case === "execServerMessage");
    expect(session.messages.filter((message) => isUpdate(message, "userMessageAppended"))).toHaveLength(1);
    session.close();
  });

  test("an append that overtakes a heartbeat goes on as soon as that is there (A1, A5, I9)", async () => {
    const heartbeat = bytesOf({ case: "clientHeartbeat", value: {} });
    for (let round = 0; round < 10; round += 1) {
      const session = await Session.open(options({ onExec: () => undefined }));
      await session.ask("hello");
      await session.until(({ message }) => message.case === "execServerMessage");
      const value = { result: { case: "error" as const, value: { error: "not in this test" } } };
      const result = bytesOf({
        case: "execClientMessage",
        value: { id: 1, message: { case: "requestContextResult", value } },
      });
      await Promise.all([session.append(2, result), session.append(1, heartbeat), session.append(2, result)]);
      // Nothing else is sent: what was noted of the heartbeat has to be enough.
      await session.until((message) => isUpdate(message, "stepStarted"));
      session.close();
    }
  });

  test("the payload comes as hex in either case or as bytes, in binary or JSON, zipped or not (T7)", async () => {
    const bytes = bytesOf({ case: "clientHeartbeat", value: {} });
    const send = (fields: object, zip = false) => {
      const message = create(BidiAppendRequestSchema, { requestId: { requestId: randomUUID() }, ...fields });
      const body = toBinary(BidiAppendRequestSchema, message);
      return post(zip ? gzipSync(body) : body, zip ? { "content-encoding": "gzip" } : {});
    };
    for (const fields of [
      { data: encodeHex(bytes) },
      { data: encodeHex(bytes).toUpperCase() },
      { dataBinary: bytes },
      { data: encodeHex(bytes), dataBinary: bytes },
    ]) {
      expect((await send(fields)).status).toBe(200);
    }
    expect((await send({ dataBinary: bytes }, true)).status).toBe(200);
    const json = { requestId: { requestId: randomUUID() }, data: encodeHex(bytes), appendSeqno: "0" };
    const answer = await post(JSON.stringify(json), { "content-type": "application/json" });
    expect([answer.status, answer.headers["content-type"], answer.body.toString()]).toEqual([
      200,
      "application/json",
      "{}",
    ]);

    for (const [fields, field] of [
      [{ data: "0a0" }, "data"],
      [{ data: "zz" }, "data"],
      [{}, "data"],
      [{ data: encodeHex(bytes), dataBinary: Uint8Array.of(1) }, "data_binary"],
      [{ dataBinary: bytes, appendSeqno: -1n }, "append_seqno"],
      [{ dataBinary: bytes, requestId: { requestId: " " } }, "request_id"],
    ] as const) {
      const refused = await send(fields);
      expect(refused.status).toBe(400);
      expect(JSON.parse(refused.body.toString())).toMatchObject({
        code: "invalid_argument",
        message: expect.stringContaining(field),
      });
    }
  });

  test("a malformed append leaves its run unharmed (T7, A4, I-05)", async () => {
    const session = await Session.open(options());
    const broken = await post(
      toBinary(
        BidiAppendRequestSchema,
        create(BidiAppendRequestSchema, { requestId: { requestId: session.requestId }, data: "0a0" }),
      ),
    );
    expect(broken.status).toBe(400);
    const noMessage = await session.append(0, Uint8Array.of(0xff));
    expect([noMessage.status, JSON.parse(noMessage.body.toString()).code]).toEqual([400, "invalid_argument"]);
    await session.ask("hello");
    expect(await session.ended).toEqual({ kind: "completed" });
  });

  test("a body beyond the limit is refused while it arrives", async () => {
    const announced = await post(new Uint8Array(200_001));
    expect([announced.status, JSON.parse(announced.body.toString()).code]).toEqual([429, "resource_exhausted"]);
    const bomb = await post(gzipSync(new Uint8Array(50_000_000)), { "content-encoding": "gzip" });
    expect([bomb.status, JSON.parse(bomb.body.toString()).code]).toEqual([429, "resource_exhausted"]);
    const unknown = await post("x", { "content-encoding": "zstd" });
    expect(JSON.parse(unknown.body.toString()).code).toBe("unimplemented");
    const noZip = await post("no gzip at all", { "content-encoding": "gzip" });
    expect([noZip.status, JSON.parse(noZip.body.toString()).code]).toEqual([400, "invalid_argument"]);
  });

  test("two subscribers see the same; one that leaves takes nothing with it (R3, R5)", async () => {
    const first = await Session.open(options({ onExec: () => undefined }));
    const second = await Session.open(options({ requestId: first.requestId, blobs: false, firstNumber: 1 }));
    await first.ask("hello");
    await first.until(({ message }) => message.case === "execServerMessage");
    await eventually("both are counted", () => run(first.requestId)?.subscribers === 2);
    first.close();
    await eventually("one is gone", () => run(first.requestId)?.subscribers === 1);
    // The request of the client's context is still open for the one that stayed.
    await second.send({
      case: "execClientMessage",
      value: { id: 1, message: { case: "requestContextResult", value: { result: { case: "error", value: {} } } } },
    });
    await second.until((message) => isUpdate(message, "textDelta"));
    second.close();
    await eventually("nobody is left", () => run(first.requestId)?.subscribers === 0);
  });

  test("an idle stream gets heartbeats, which are not in the log (R4, I-13)", async () => {
    const session = await Session.open(options({ onExec: () => undefined }));
    await session.until((message) => isUpdate(message, "heartbeat"));
    await session.ask("hello");
    await session.until(({ message }) => message.case === "execServerMessage");
    const before = session.messages.length;
    await session.until((message) => session.messages.indexOf(message) >= before && isUpdate(message, "heartbeat"));
    const other = await Session.open(options({ requestId: session.requestId, onExec: () => undefined, blobs: false }));
    await other.until(({ message }) => message.case === "execServerMessage");
    expect(other.messages.filter((message) => isUpdate(message, "heartbeat"))).toEqual([]);
    session.close();
    other.close();
  });

  test("a client of a class without grace cancels by closing its stream (R5)", async () => {
    const session = await Session.open(
      options({ headers: { "keyturn-on-disconnect": "cancel" }, onExec: () => undefined }),
    );
    await session.ask("hello");
    await session.until(({ message }) => message.case === "execServerMessage");
    session.close();
    await eventually("the run is canceled", () => run(session.requestId)?.phase === "canceled");
  });

  test("an unknown model ends the stream with details a client shows (T8)", async () => {
    const session = await Session.open(options());
    await session.ask("hello", { model: "no-such-model" });
    const end = await session.ended;
    expect(end).toMatchObject({ kind: "error", code: "invalid_argument" });
    const [detail] = (end as StreamEnd & { kind: "error" }).details;
    expect(detail?.type).toBe("aiserver.v1.ErrorDetails");
    const details = fromBinary(ErrorDetailsSchema, Buffer.from(detail?.value ?? "", "base64"));
    expect(details).toMatchObject({
      error: ErrorDetails_Error.BAD_MODEL_NAME,
      details: {
        isRetryable: false,
        showRequestId: true,
        title: expect.stringMatching(/./),
        detail: expect.stringContaining("no-such-model"),
      },
    });
  });
});

describe("what is refused before anything is done (I-140 to I-142)", () => {
  test("wrong keys, foreign pages, foreign names, wrong content types", async () => {
    const evil = { origin: "https://evil.example", "content-type": "text/plain" };
    const refusals: [Record<string, string>, number][] = [
      [{ ...authorization(), ...evil }, 403],
      [evil, 401],
      [{ authorization: "Bearer wrong" }, 401],
      [{ authorization: `Basic ${server.key}` }, 401],
      [{ ...authorization(), "content-type": "text/plain" }, 415],
      [{ ...authorization(), "content-type": "" }, 415],
      [{ ...authorization(), origin: "null" }, 403],
      [{ ...authorization(), "sec-fetch-site": "cross-site" }, 403],
      [{ ...authorization(), host: "attacker.poc:8484" }, 421],
    ];
    for (const path of [appendPath, ssePath]) {
      for (const [headers, status] of refusals) {
        const answer = await exchange(server.baseUrl, { path, headers, body: "x" });
        expect([path, headers, answer.status]).toEqual([path, headers, status]);
        expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      }
    }
    const hosts = ["localhost:1", "127.0.0.1", "[::1]:8484", new URL(server.baseUrl).host];
    for (const host of hosts) {
      const answer = await exchange(server.baseUrl, {
        method: "GET",
        path: "/v1/me",
        headers: { ...authorization(), host },
      });
      expect([host, answer.status]).toEqual([host, 200]);
    }
    const preflight = await exchange(server.baseUrl, {
      method: "OPTIONS",
      path: appendPath,
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
    for (const path of ["//evil/x", "/%zz", "/a/../b"]) {
      expect([
        path,
        (await exchange(server.baseUrl, { method: "GET", path, headers: authorization() })).status,
      ]).toEqual([path, 400]);
    }
  });
});

test("an append never waits for the model (T1, I-04)", async () => {
  const slow = await startTestServer({
    config: "limits: { stopGraceMs: 200 }",
    turn: (services) => ({ ...createTurn(services), runPass: () => new Promise(() => {}) }),
  });
  try {
    const session = await Session.open(options({ baseUrl: slow.baseUrl, bearer: slow.key }));
    await session.ask("hello");
    await session.until((message) => isUpdate(message, "stepStarted"));
    const startedAt = performance.now();
    await session.send({ case: "clientHeartbeat", value: {} });
    expect(performance.now() - startedAt).toBeLessThan(250);
    session.close();
  } finally {
    await slow[Symbol.asyncDispose]();
  }
});

function isHeartbeat(session: Session, index: number): boolean {
  const message = session.messages[index];
  return message !== undefined && isUpdate(message, "heartbeat");
}

function requestIdEnvelope(requestId: string): Uint8Array {
  return encodeEnvelope(0, toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId })));
}

function endOf(headers: Record<string, string>, body: Uint8Array): Promise<StreamEnd> {
  return new Promise((resolve, reject) => {
    openRunSse({ baseUrl: server.baseUrl, headers, body }, { message: () => {}, end: resolve }).catch(reject);
  });
}

function post(body: Uint8Array | string, headers: Record<string, string> = {}) {
  return exchange(server.baseUrl, {
    path: appendPath,
    headers: { ...authorization(), "content-type": "application/proto", ...headers },
    body,
  });
}
