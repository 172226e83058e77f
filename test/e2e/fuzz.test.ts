import { create, toBinary } from "@bufbuild/protobuf";
import { AgentClientMessageSchema } from "@keyturn/protocol/agent";
import { BidiAppendRequestSchema } from "@keyturn/protocol/aiserver";
import { encodeClientMessage, encodeHex } from "@keyturn/protocol/codec";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Session, userMessage } from "../support/driver.js";
import { exchange } from "../support/post.js";
import { startTestServer, type TestServer } from "../support/server.js";

/** What strangers can reach is given garbage: every answer is an answer, and the server goes on. */

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: "limits: { startMs: 1000, stopGraceMs: 100 }" });
});
afterAll(() => server[Symbol.asyncDispose]());

const headers = (contentType: string) => ({ authorization: `Bearer ${server.key}`, "content-type": contentType });

/** A valid start of a run with some of its bytes changed, cut or doubled. */
const damaged = fc
  .tuple(
    fc.constant(encodeClientMessage(create(AgentClientMessageSchema, { message: userMessage("hello") }))),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
    fc.nat(),
  )
  .map(([bytes, changes, cut]) => {
    const copy = Uint8Array.from(bytes);
    for (const [at, value] of changes) copy[at % copy.length] = value;
    return cut % 3 === 0 ? copy.subarray(0, cut % copy.length) : copy;
  });

async function isAlive(): Promise<void> {
  expect((await exchange(server.baseUrl, { method: "GET", path: "/healthz" })).status).toBe(200);
}

describe("garbage", () => {
  test("in the body of an append: refused or accepted, never a crash", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (body) => {
        const path = "/aiserver.v1.BidiService/BidiAppend";
        const answer = await exchange(server.baseUrl, { path, headers: headers("application/proto"), body });
        expect([200, 400, 409, 429]).toContain(answer.status);
      }),
      { numRuns: 60 },
    );
    await isAlive();
  });

  test("in the message of an append: the run it starts, if any, ends", async () => {
    await fc.assert(
      fc.asyncProperty(damaged, fc.uuid(), fc.integer({ min: -2, max: 3 }), async (bytes, requestId, number) => {
        const body = toBinary(
          BidiAppendRequestSchema,
          create(BidiAppendRequestSchema, {
            requestId: { requestId },
            appendSeqno: BigInt(number),
            data: encodeHex(bytes),
          }),
        );
        const path = "/aiserver.v1.BidiService/BidiAppend";
        const answer = await exchange(server.baseUrl, { path, headers: headers("application/proto"), body });
        expect([200, 400, 409, 429]).toContain(answer.status);
      }),
      { numRuns: 80 },
    );
    await isAlive();
  });

  test("as a path, a content type or an encoding", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.webPath(),
        fc.constantFrom("application/proto", "application/json", "application/connect+proto", "text/plain", "x"),
        fc.constantFrom("identity", "gzip", "br", "nonsense"),
        fc.uint8Array({ maxLength: 50 }),
        async (path, contentType, encoding, body) => {
          const answer = await exchange(server.baseUrl, {
            path: path === "" ? "/" : path,
            headers: { ...headers(contentType), "content-encoding": encoding },
            body,
          });
          expect(answer.status).toBeLessThan(500);
        },
      ),
      { numRuns: 60 },
    );
    await isAlive();
  });

  test("and then a run like any other", async () => {
    const session = await Session.open({
      baseUrl: server.baseUrl,
      bearer: server.key,
      onExec: () => [{ case: "requestContextResult", value: { result: { case: "error", value: { error: "none" } } } }],
    });
    await session.ask("hello");
    expect(await session.ended).toEqual({ kind: "completed" });
  });
});
