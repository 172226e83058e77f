import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import {
  AgentClientMessageSchema,
  type AgentServerMessage,
  AgentService,
  BidiRequestIdSchema,
} from "@keyturn/protocol/agent";
import { BidiService } from "@keyturn/protocol/aiserver";
import { encodeClientMessage, encodeEnvelope, encodeHex } from "@keyturn/protocol/codec";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isUpdate, Session, textOf, userMessage } from "../support/driver.js";
import { exchange } from "../support/post.js";
import { startTestServer, type TestServer } from "../support/server.js";

/** The certificate is made on the spot; where there is no openssl, the TLS half is skipped, which vitest says. */
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

let folder: string;
let server: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyturn-tls-"));
  let tls = "";
  if (hasOpenssl) {
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const args = [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-keyout",
      key,
      "-out",
      cert,
      ...subject,
    ];
    expect(spawnSync("openssl", args).status).toBe(0);
    tls = `, tls: { cert: ${JSON.stringify(cert)}, key: ${JSON.stringify(key)} }`;
  }
  server = await startTestServer({ config: `server: { http2: true${tls} }\nlimits: { stopGraceMs: 200 }` });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const plain = () => `http://127.0.0.1:${server.server.port}`;
const secure = () => `https://127.0.0.1:${server.server.port}`;
const nobodyHome = () => [
  { case: "requestContextResult" as const, value: { result: { case: "error" as const, value: { error: "none" } } } },
];

describe("Run over HTTP/2 on the same port (T5)", () => {
  test("a whole run in one stream", async () => {
    const session = await Session.open({
      baseUrl: plain(),
      bearer: server.key,
      transport: "bidi",
      onExec: nobodyHome,
    });
    expect(session.stream.headers["content-type"]).toBe("application/connect+proto");
    await session.ask("hello");
    expect(await session.ended).toEqual({ kind: "completed" });
    expect(session.messages.some((message) => isUpdate(message, "turnEnded"))).toBe(true);
  });

  test("the end of the client's half does not end the run; its closing is a disconnect (R5)", async () => {
    const session = await Session.open({
      baseUrl: plain(),
      bearer: server.key,
      transport: "bidi",
      headers: { "keyturn-on-disconnect": "continue" },
      onExec: () => undefined,
    });
    await session.ask("hello");
    session.stream.endSending?.();
    await session.until(({ message }) => message.case === "execServerMessage");
    session.close();
    const run = () => server.server.host.list().find(({ key }) => key.requestId === session.requestId);
    while (run()?.subscribers !== 0) await new Promise((resolve) => setImmediate(resolve));
    expect(run()?.phase).toBe("waiting_external");

    const back = await Session.open({
      baseUrl: plain(),
      bearer: server.key,
      requestId: session.requestId,
      firstNumber: 1,
      onExec: nobodyHome,
    });
    expect(await back.ended).toEqual({ kind: "completed" });
  });

  test("a malformed message ends the stream and names what is wrong", async () => {
    const session = await Session.open({ baseUrl: plain(), bearer: server.key, transport: "bidi" });
    session.stream.send?.(Uint8Array.of(0xff));
    expect(await session.ended).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("AgentClientMessage"),
    });
  });

  test("without a request id the error names the header; over HTTP/1.1 the version", async () => {
    const session = await Session.open({
      baseUrl: plain(),
      bearer: server.key,
      transport: "bidi",
      headers: { "x-request-id": "" },
    });
    expect(await session.ended).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("x-request-id"),
    });
    const answer = await exchange(plain(), {
      path: "/agent.v1.AgentService/Run",
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/connect+proto" },
    });
    expect(answer.status).toBe(505);
  });
});

describe("an independent Connect client", () => {
  const headers = () => ({ authorization: `Bearer ${server.key}` });

  test.each(["1.1", "2"] as const)("runs a turn with RunSSE and BidiAppend over HTTP/%s", async (httpVersion) => {
    const transport = createConnectTransport({ baseUrl: plain(), httpVersion });
    const agent = createClient(AgentService, transport);
    const bidi = createClient(BidiService, transport);
    const requestId = randomUUID();
    const message = userMessage("hello");
    const data = encodeHex(encodeClientMessage(create(AgentClientMessageSchema, { message })));
    await bidi.bidiAppend({ requestId: { requestId }, data }, { headers: headers() });
    const seen: AgentServerMessage[] = [];
    for await (const received of agent.runSSE({ requestId }, { headers: headers() })) {
      seen.push(received);
      if (received.message.case === "execServerMessage") break;
    }
    expect(seen.some((one) => isUpdate(one, "userMessageAppended"))).toBe(true);
  });

  test("reads Run, errors and unary answers as they are meant", async () => {
    const transport = createConnectTransport({ baseUrl: plain(), httpVersion: "2" });
    const agent = createClient(AgentService, transport);
    const run = agent.run(
      (async function* () {
        yield create(AgentClientMessageSchema, { message: userMessage("hello", { model: "nobody" }) });
      })(),
      { headers: { ...headers(), "x-request-id": randomUUID() } },
    );
    const texts: string[] = [];
    const failed = (async () => {
      for await (const message of run) texts.push(textOf(message));
    })();
    await expect(failed).rejects.toMatchObject({ code: 3, rawMessage: expect.stringContaining("nobody") });
    const { models } = await agent.getUsableModels({}, { headers: headers() });
    expect(models.map(({ modelId, aliases }) => [modelId, aliases])).toEqual([["demo", ["auto", "default"]]]);
    await expect(agent.getUsableModels({})).rejects.toMatchObject({ code: 16 });
    await expect(agent.getSignedUrlForAttachedMedia({}, { headers: headers() })).rejects.toMatchObject({ code: 12 });
  });
});

describe.runIf(hasOpenssl)("TLS on the same port (T5)", () => {
  test("ALPN chooses the version", async () => {
    const nodeOptions = { rejectUnauthorized: false };
    for (const httpVersion of ["1.1", "2"] as const) {
      const agent = createClient(AgentService, createConnectTransport({ baseUrl: secure(), httpVersion, nodeOptions }));
      const { model } = await agent.getDefaultModelForCli({}, { headers: { authorization: `Bearer ${server.key}` } });
      expect(model?.modelId).toBe("demo");
    }
  });

  test("a stream over TLS and HTTP/1.1", async () => {
    const requestId = randomUUID();
    const chunks = await new Promise<Buffer>((resolve, reject) => {
      const outgoing = request(
        `${secure()}/agent.v1.AgentService/RunSSE`,
        {
          method: "POST",
          agent: new Agent({ rejectUnauthorized: false }),
          headers: {
            authorization: `Bearer ${server.key}`,
            "content-type": "application/connect+proto",
            "keyturn-position": "-1",
          },
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.once("end", () => resolve(Buffer.concat(parts)));
        },
      );
      outgoing.once("error", reject);
      const id = create(BidiRequestIdSchema, { requestId });
      outgoing.end(encodeEnvelope(0, new TextEncoder().encode(id.requestId)));
    });
    expect(chunks[0]).toBe(2);
    expect(chunks.subarray(5).toString()).toContain("keyturn-position");
  });
});

describe("connections that do nothing", () => {
  test("bytes of no protocol are refused, and the port goes on", async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(server.server.port, "127.0.0.1", () => socket.write("\0\0\0\0\0\0\r\n\r\n"));
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk.toString();
      });
      socket.once("close", () => resolve(text));
      socket.on("error", () => {});
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect((await exchange(plain(), { method: "GET", path: "/healthz" })).status).toBe(200);
  });
});
