import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BidiPollRequestSchema, type BidiPollResponse, BidiPollResponseSchema } from "@keyturn/protocol/agent";
import { decodeServerMessage, EnvelopeReader, encodeEnvelope, encodeHex, endStreamFlag } from "@keyturn/protocol/codec";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isUpdate, Session } from "../support/driver.js";
import { exchange } from "../support/post.js";
import { startTestServer, type TestServer } from "../support/server.js";
import { MemoryWorkspace } from "../support/workspace.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: "server: { heartbeatMs: 100 }" });
});
afterAll(() => server[Symbol.asyncDispose]());

/** One poll: its answers, and the JSON that ends its stream. */
async function poll(requestId: string, position: number): Promise<{ frames: BidiPollResponse[]; end: unknown }> {
  const request = create(BidiPollRequestSchema, { requestId: { requestId }, startRequest: position === 0 });
  const answer = await exchange(server.baseUrl, {
    path: "/agent.v1.AgentService/RunPoll",
    headers: {
      authorization: `Bearer ${server.key}`,
      "content-type": "application/connect+proto",
      "keyturn-position": String(position),
    },
    body: encodeEnvelope(0, toBinary(BidiPollRequestSchema, request)),
  });
  expect(answer.status).toBe(200);
  const envelopes = [...new EnvelopeReader(16 * 1024 * 1024).push(answer.body)];
  const last = envelopes.at(-1);
  expect(last?.flags).toBe(endStreamFlag);
  const frames = envelopes.slice(0, -1).map(({ body }) => fromBinary(BidiPollResponseSchema, body));
  return { frames, end: JSON.parse(new TextDecoder().decode(last?.body)) };
}

test("a run read by polling is the run read as a stream, frame for frame, its end included (T6)", async () => {
  const session = await Session.open({
    baseUrl: server.baseUrl,
    bearer: server.key,
    onExec: new MemoryWorkspace().answer,
  });
  await session.ask("hello");
  expect(await session.ended).toEqual({ kind: "completed" });

  const polled: string[] = [];
  let position = 0;
  for (;;) {
    const { frames, end } = await poll(session.requestId, position);
    for (const frame of frames) if (!frame.eof) polled.push(frame.data);
    position = Number(frames.at(-1)?.seqno ?? position);
    if (!frames.at(-1)?.eof) continue;
    expect(end).toEqual({});
    break;
  }
  // What the client answered meanwhile is left out of a later reading (R3).
  const lasting = session.messages.flatMap(({ message }, index) =>
    message.case === "execServerMessage" || message.case === "kvServerMessage"
      ? []
      : encodeHex(session.frames[index] ?? new Uint8Array()),
  );
  expect(polled).toEqual(lasting);
});

test("a poll with nothing new waits for the heartbeat, which has the position asked for (T6, R4)", async () => {
  const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key, onExec: () => undefined });
  await session.ask("hello");
  await session.until(({ message }) => message.case === "execServerMessage");
  const { frames } = await poll(session.requestId, 0);
  const position = Number(frames.at(-1)?.seqno);
  const idle = await poll(session.requestId, position);
  expect(idle.frames.map(({ seqno }) => Number(seqno))).toEqual([position]);
  const message = decodeServerMessage(Buffer.from(idle.frames[0]?.data ?? "", "hex"));
  expect(isUpdate(message, "heartbeat")).toBe(true);
  session.close();
});

test("a failed run's last poll ends as its stream does (T6, T8)", async () => {
  const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key });
  await session.ask("hello", { model: "nowhere" });
  const end = await session.ended;
  const polled = await poll(session.requestId, 1_000_000);
  expect(polled.frames.map(({ eof }) => eof)).toEqual([true]);
  expect(polled.end).toMatchObject({ error: { code: end.kind === "error" ? end.code : "none" } });
});
