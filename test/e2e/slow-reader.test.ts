import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Subscription } from "../../packages/server/src/engine/subscription.js";
import { type Listener, openListener } from "../../packages/server/src/http/listener.js";
import { createClassifier } from "../../packages/server/src/rpc/client-class.js";
import { Exchange } from "../../packages/server/src/rpc/exchange.js";
import { BodyReader } from "../../packages/server/src/rpc/read-body.js";
import { createRpcRouter } from "../../packages/server/src/rpc/router.js";

const frame = new Uint8Array(32 * 1024);
const path = "/agent.v1.AgentService/RunSSE";

/** A run that always has one more frame; counts what is pulled and whether its reader was let go. */
function endlessRun() {
  let pulled = 0;
  let closed = () => {};
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const subscription = {
    next: async () => {
      pulled++;
      // A turn of the event loop, as a read from the log takes one now and then.
      if (pulled % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
      return { kind: "frame", position: pulled, bytes: frame };
    },
    close: () => closed(),
  } as unknown as Subscription;
  return { subscription, gone, pulledBytes: () => pulled * frame.length };
}

let run: ReturnType<typeof endlessRun>;
let listener: Listener;
beforeEach(async () => {
  run = endlessRun();
  listener = await listen(60_000);
});
afterEach(() => listener.close(0));

function listen(stallMs: number): Promise<Listener> {
  const nothing = () => {};
  const router = createRpcRouter({
    host: { subscribe: async () => run.subscription, append: async () => ({ kind: "accepted" }) },
    models: { models: () => [], resolve: () => undefined },
    conversations: { get: async () => undefined, setMetadata: async () => {} },
    blobs: { put: async () => {} },
    classify: createClassifier([], { disconnectGraceMs: 0, maxPasses: 1, totalMs: 1 }),
    bodies: new BodyReader(1 << 20),
    reports: {
      streamOpened: nothing,
      streamClosed: nothing,
      appendAnswered: nothing,
      unknownCall: nothing,
      problem: nothing,
    },
    maxBodyBytes: 1 << 20,
    stallMs,
    preferHttp2: false,
    version: "test",
  });
  return openListener({
    host: "127.0.0.1",
    port: 0,
    onRequest: (request, response) => void router.handle(new Exchange(request, response)),
  });
}

/** Asks for the stream over HTTP/1.1 and reads nothing of it. */
async function askAndWait(): Promise<Socket> {
  const socket = connect(listener.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/connect+proto\r\nX-Request-Id: r1\r\nContent-Length: 0\r\n\r\n`,
  );
  await settled();
  return socket;
}

/** Nothing more is pulled: the server waits for the reader. */
async function settled(): Promise<void> {
  for (let before = -1; before !== run.pulledBytes() || before === 0; ) {
    before = run.pulledBytes();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe("a reader that does not read (I-18)", () => {
  test("stops the pulling, and its end closes the subscription, over HTTP/1.1", async () => {
    const socket = await askAndWait();
    expect(run.pulledBytes()).toBeLessThan(20_000_000);
    socket.destroy();
    await run.gone;
  });

  test("the same over HTTP/2, when its stream is reset and when its connection dies", async () => {
    for (const leave of ["stream", "connection"] as const) {
      run = endlessRun();
      const session = connectHttp2(`http://127.0.0.1:${listener.port}`);
      session.on("error", () => {});
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/connect+proto",
        "x-request-id": "r1",
      });
      stream.on("error", () => {});
      stream.end();
      await once(stream, "response");
      await settled();
      expect(run.pulledBytes()).toBeLessThan(20_000_000);
      if (leave === "stream") stream.close(constants.NGHTTP2_CANCEL);
      else session.destroy();
      await run.gone;
      session.destroy();
    }
  });
});

test("a reader that stalls for too long is cut off", async () => {
  await listener.close(0);
  listener = await listen(300);
  await askAndWait();
  await run.gone;
});
