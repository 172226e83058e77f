import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Listener, openListener } from "./listener.js";

let listener: Listener;
beforeEach(async () => {
  listener = await openListener({
    host: "127.0.0.1",
    port: 0,
    headersTimeoutMs: 200,
    onRequest: (incoming, response) => {
      incoming.resume();
      incoming.once("end", () => setTimeout(() => response.end(`HTTP/${incoming.httpVersion}`), 400));
    },
  });
});
afterEach(() => listener.close(0));

/** Sends the pieces one after the other; resolves with all that came back, once the connection is closed. */
function dribble(...pieces: string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(listener.port, "127.0.0.1");
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.once("close", () => resolve(text));
    const next = () => {
      const piece = pieces.shift();
      if (piece !== undefined) socket.write(piece, () => setTimeout(next, 10));
    };
    socket.once("connect", next);
  });
}

describe("one port", () => {
  test("the protocol is told from bytes that come one by one, and an answer may take longer than a head", async () => {
    const answer = await dribble(
      "P",
      "O",
      "ST / HTTP/1.1\r\nHost: a\r\n",
      "Content-Length: 1\r\nConnection: close\r\n\r\nx",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1$/);
  });

  test("whoever says nothing, or half a head, is let go", async () => {
    expect(await dribble()).toBe("");
    expect(await dribble("P")).toBe("");
    expect(await dribble("PR")).toBe("");
    expect(await dribble("GET / HTTP/1.1\r\nHost: a\r\n")).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("TLS without a certificate is refused", async () => {
    expect(await dribble("\x16\x03\x01")).toBe("");
  });

  test("a port in use is the system's error", async () => {
    const again = openListener({ host: "127.0.0.1", port: listener.port, onRequest: () => {} });
    await expect(again).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  test("closing lets an answer under way finish, and takes nobody new", async () => {
    const answered = new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request({ host: "127.0.0.1", port: listener.port, agent: false }, (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode));
      });
      outgoing.once("error", reject);
      outgoing.end();
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closed = listener.close(5_000);
    expect(await answered).toBe(200);
    await closed;
    expect(await dribble("GET / HTTP/1.1\r\n\r\n")).toBe("");
  });
});
