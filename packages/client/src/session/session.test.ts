import type { ExecServerMessage } from "@keyturn/protocol/agent";
import { expect, test } from "vitest";
import { type Execution, ExecutionFailure } from "../executor/execution.js";
import { MemoryStore } from "../store/memory-store.js";
import { foreignAnswer, ServerRefusal } from "./refusal.js";
import { Session } from "./session.js";
import type { SessionEvent, SessionOptions } from "./session-options.js";
import { FakeTransport, ManualClock, settled } from "./testing.js";

function start(more: Partial<SessionOptions> = {}) {
  const clock = new ManualClock();
  const transport = new FakeTransport();
  const store = new MemoryStore();
  const session = new Session({ transports: [transport], request: {}, store, clock, random: () => 1, ...more });
  const events: SessionEvent[] = [];
  const read = (async () => {
    for await (const event of session) events.push(event);
  })();
  return { clock, transport, store, session, events, read, kinds: () => events.map(({ kind }) => kind) };
}

const temporary = new ServerRefusal(503, { code: "unavailable", message: "stopping", isRetryable: true });
const conflict = new ServerRefusal(409, { code: "already_exists", message: "other bytes", isRetryable: false });

test("a run: request first, heartbeats every five seconds under a number that was used, one outcome", async () => {
  const { clock, transport, session, events, read } = start();
  await settled();
  expect(transport.appends).toMatchObject([{ number: 0, message: { case: "runRequest" } }]);
  await clock.move(15_000);
  const heartbeats = transport.sent("clientHeartbeat");
  expect(heartbeats.map(({ number }) => number)).toEqual([0, 0, 0]);
  transport.stream.text("hello", 3);
  transport.stream.turnEnded(4);
  transport.stream.end({ kind: "completed" });
  expect(await session.outcome).toMatchObject({ kind: "finished", usage: { inputTokens: 3, outputTokens: 0 } });
  await read;
  expect(events).toMatchObject([{ kind: "connected", isAgain: false }, { position: 3 }, { position: 4 }]);
  expect(transport.stream.isClosed).toBe(true);
});

test("a broken stream is opened again after the last position, and nothing is told twice", async () => {
  const { clock, transport, session, events, kinds } = start();
  await settled();
  transport.stream.text("a", 5);
  transport.stream.end({ kind: "broken", why: "cut" });
  await settled();
  expect(events.at(-1)).toEqual({ kind: "connection-lost", why: "cut", retryInMs: 100 });
  await clock.move(100);
  expect(transport.stream.request.position).toBe(5);
  // A server that starts too early does no harm.
  transport.stream.text("a", 5);
  transport.stream.text("b", 6);
  transport.stream.end({ kind: "completed" });
  expect((await session.outcome).kind).toBe("finished");
  expect(kinds()).toEqual(["connected", "message", "connection-lost", "connected", "message"]);
});

test("silence of thirty seconds is a broken connection; heartbeats are no silence", async () => {
  const { clock, transport, events } = start();
  await settled();
  await clock.move(29_000);
  transport.stream.heartbeat();
  await clock.move(29_000);
  expect(transport.streams).toHaveLength(1);
  await clock.move(1_100);
  expect(transport.streams).toHaveLength(2);
  expect(events).toContainEqual({ kind: "connection-lost", why: "nothing was heard for 30 s", retryInMs: 100 });
});

test("attempts become rarer, and end after two minutes without a word", async () => {
  const { clock, transport, session, events } = start();
  await settled();
  transport.onOpen = () => {
    throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  };
  transport.stream.end({ kind: "broken", why: "cut" });
  await clock.move(119_000);
  const waits = events.flatMap((event) => (event.kind === "connection-lost" ? event.retryInMs : []));
  expect(waits.slice(0, 8)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  await clock.move(10_000);
  expect(await session.outcome).toEqual({ kind: "lost", why: "nothing listens there" });
});

test("an append is sent until it is taken, with the same number and bytes, and later ones need not wait", async () => {
  const { clock, transport, session } = start();
  transport.onAppend = (_append, attempt) => {
    if (attempt === 1) throw Object.assign(new Error("cut"), { code: "ECONNRESET" });
    if (attempt === 3) throw temporary;
  };
  await settled();
  session.send({ case: "interactionResponse", value: { id: 7 } });
  await clock.move(1_000);
  expect(transport.appends.map(({ number }) => number)).toEqual([0, 1, 0, 0]);
  expect(new Set(transport.sent("runRequest").map(({ bytes }) => Buffer.from(bytes).toString("hex"))).size).toBe(1);
});

test("a message that is refused for good ends the session", async () => {
  const { transport, session } = start();
  transport.onAppend = () => {
    throw conflict;
  };
  expect(await session.outcome).toEqual({ kind: "refused", refusal: conflict });
  expect(transport.streams.every(({ isClosed }) => isClosed)).toBe(true);
});

test("an error of the stream is the run's only after the turn has ended", async () => {
  const error = { code: "unavailable", message: "stopping", isRetryable: true };
  const first = start();
  await settled();
  first.transport.stream.text("a", 1);
  first.transport.stream.end({ kind: "error", error });
  await first.clock.move(200);
  expect(first.transport.streams).toHaveLength(2);
  first.transport.stream.turnEnded(2);
  first.transport.stream.end({ kind: "error", error });
  expect(await first.session.outcome).toMatchObject({ kind: "failed", error });

  const second = start();
  await settled();
  second.transport.stream.turnEnded(1);
  second.transport.stream.end({ kind: "error", error: { code: "canceled", message: "enough", isRetryable: false } });
  expect(await second.session.outcome).toEqual({ kind: "cancelled", why: "enough" });
});

test("a server that tells no positions cannot be come back to", async () => {
  const { transport, session } = start();
  await settled();
  transport.stream.text("a");
  transport.stream.end({ kind: "broken", why: "cut" });
  expect(await session.outcome).toEqual({ kind: "lost", why: expect.stringContaining("no positions") as string });
});

test("a transport that the server does not speak gives way to the next", async () => {
  const first = new FakeTransport();
  first.onOpen = () => {
    throw foreignAnswer(404, "nothing there");
  };
  const second = new FakeTransport();
  const { session } = start({ transports: [first, second] });
  await settled();
  expect(second.sent("runRequest")).toHaveLength(1);
  expect(first.appends).toEqual([]);
  second.stream.end({ kind: "completed" });
  expect((await session.outcome).kind).toBe("finished");

  const alone = start({ transports: [first] });
  expect(await alone.session.outcome).toMatchObject({ kind: "refused", refusal: { status: 404 } });
});

test("a way on which nothing at all is heard gives way to the next, but not once something was", async () => {
  const held = new FakeTransport();
  const polls = new FakeTransport();
  const { clock, session } = start({ transports: [held, polls] });
  await settled();
  await clock.move(30_000);
  expect(polls.streams).toHaveLength(1);
  polls.stream.heartbeat();
  await clock.move(31_000);
  expect([held.streams.length, polls.streams.length]).toEqual([1, 2]);
  polls.stream.end({ kind: "completed" });
  expect((await session.outcome).kind).toBe("finished");
});

test("a cancel is said, and not waited for too long", async () => {
  const { clock, transport, session } = start();
  await settled();
  const outcome = session.cancel("enough");
  await settled();
  expect(transport.appends.at(-1)).toMatchObject({
    message: { case: "conversationAction", value: { action: { case: "cancelAction", value: { reason: "enough" } } } },
  });
  await clock.move(3_000);
  expect(await outcome).toEqual({ kind: "cancelled", why: "enough" });
});

test("whoever does not read makes the server wait, and silence means nothing then", async () => {
  const clock = new ManualClock();
  const transport = new FakeTransport();
  const session = new Session({ transports: [transport], store: new MemoryStore(), clock });
  await settled();
  for (let position = 1; position <= 1_100; position += 1) transport.stream.text("x", position);
  expect(transport.stream.isPaused).toBe(true);
  await clock.move(60_000);
  expect(transport.streams).toHaveLength(1);
  let count = 0;
  for await (const event of session) {
    if (event.kind === "message") count += 1;
    if (count === 1_000) expect(transport.stream.isPaused).toBe(false);
    if (count === 1_100) transport.stream.end({ kind: "completed" });
  }
  expect(count).toBe(1_100);
});

const exec = (id: number) =>
  ({ id, execId: `exec-${id}`, message: { case: "readArgs", value: { path: "a" } } }) as const;

test("executions: answered and closed, alive every three seconds, stopped on demand, never begun twice", async () => {
  const begun: ExecServerMessage[] = [];
  let fail: (cause: Error) => void = () => {};
  const { clock, transport, session } = start({
    executor: {
      execute: ({ message, signal, send }: Execution) => {
        begun.push(message);
        send({ ...message, message: { case: "readResult", value: {} } } as unknown as Parameters<typeof send>[0]);
        if (message.id === 1) return Promise.resolve();
        return new Promise((resolve, reject) => {
          fail = reject;
          signal.addEventListener("abort", () => resolve());
        });
      },
    },
  });
  await settled();
  const control = () =>
    transport.sent("execClientControlMessage").map(({ message }) => {
      const of = message.case === "execClientControlMessage" ? message.value.message : undefined;
      return [of?.case, of?.value?.id];
    });
  transport.stream.say({ case: "execServerMessage", value: exec(1) }, 1);
  transport.stream.say({ case: "execServerMessage", value: exec(2) }, 2);
  transport.stream.say({ case: "execServerMessage", value: exec(2) }, 3);
  transport.stream.say({ case: "execServerMessage", value: exec(3) }, 4);
  await settled();
  expect(begun.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(control()).toEqual([["streamClose", 1]]);
  await clock.move(3_000);
  expect(control().slice(1)).toEqual([
    ["heartbeat", 2],
    ["heartbeat", 3],
  ]);
  transport.stream.say(
    { case: "execServerControlMessage", value: { message: { case: "abort", value: { id: 2 } } } },
    5,
  );
  await settled();
  expect(control().at(-1)).toEqual(["streamClose", 2]);
  fail(new ExecutionFailure("broken"));
  await settled();
  expect(control().at(-1)).toEqual(["throw", 3]);
  transport.stream.end({ kind: "completed" });
  expect((await session.outcome).kind).toBe("finished");
});

test("blobs come and go, a full disk is told to both sides and harms no turn", async () => {
  const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
  const store = new MemoryStore();
  const { transport, session, events } = start({
    store: {
      blob: (id) => store.blob(id),
      putBlob: (id, bytes) => (bytes[0] === 9 ? Promise.reject(full) : store.putBlob(id, bytes)),
    },
    onCheckpoint: () => Promise.reject(full),
  });
  await settled();
  const kv = (id: number, message: object, position: number) =>
    transport.stream.say({ case: "kvServerMessage", value: { id, message } as never }, position);
  const blobId = new Uint8Array([1]);
  kv(1, { case: "setBlobArgs", value: { blobId, blobData: new Uint8Array([5]) } }, 1);
  kv(2, { case: "setBlobArgs", value: { blobId, blobData: new Uint8Array([9]) } }, 2);
  await settled();
  kv(3, { case: "getBlobArgs", value: { blobId } }, 3);
  kv(4, { case: "getBlobArgs", value: { blobId: new Uint8Array([2]) } }, 4);
  transport.stream.say({ case: "conversationCheckpointUpdate", value: {} }, 5);
  await settled();
  const answers = transport.sent("kvClientMessage").map(({ message }) => {
    const of = message.case === "kvClientMessage" ? message.value.message : undefined;
    return of?.case === "getBlobResult"
      ? of.value.blobData?.[0]
      : of?.case === "setBlobResult"
        ? of.value.error
          ? "error"
          : "ok"
        : of;
  });
  expect(answers).toEqual(["ok", "error", 5, undefined]);
  expect(events.filter(({ kind }) => kind === "problem")).toEqual([
    { kind: "problem", what: "the conversation could not be saved", cause: full },
    { kind: "problem", what: "the conversation could not be saved", cause: full },
  ]);
  transport.stream.end({ kind: "completed" });
  expect((await session.outcome).kind).toBe("finished");
});

test("questions: answered by whoever is asked, by default for a run without a person", async () => {
  const { transport } = start();
  await settled();
  transport.stream.say(
    { case: "interactionQuery", value: { id: 4, query: { case: "webSearchRequestQuery", value: {} } } },
    1,
  );
  transport.stream.say({ case: "interactionQuery", value: { id: 5 } }, 2);
  await settled();
  expect(transport.sent("interactionResponse").map(({ message }) => message.value)).toMatchObject([
    { id: 4, result: { case: "webSearchRequestResponse", value: { result: { case: "approved" } } } },
  ]);
});
