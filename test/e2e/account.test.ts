import { createHash } from "node:crypto";
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  NotifyConversationCloneRequestSchema,
  UpdateConversationMetadataRequestSchema,
  UploadConversationBlobsRequestSchema,
} from "@keyturn/protocol/agent";
import {
  AvailableModelsResponseSchema,
  GetDefaultModelResponseSchema,
  GetServerConfigResponseSchema,
  GetUserPrivacyModeResponseSchema,
  Http2Config,
  PrivacyMode,
} from "@keyturn/protocol/aiserver";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../support/driver.js";
import { exchange, type PlainRequest } from "../support/post.js";
import { startTestServer, type TestServer } from "../support/server.js";

const config = `
providers: { local: { type: openai-compatible, baseURL: "http://127.0.0.1:9/v1", apiKey: provider-secret } }
models:
  - { id: gpt-5, provider: local, displayName: Five }
aliases: { fast: gpt-5, "composer-*": gpt-5 }
server: { allowedOrigins: ["https://app.example"] }
limits: { stopGraceMs: 200 }
`;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config });
});
afterAll(() => server[Symbol.asyncDispose]());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const ask = (request: PlainRequest) =>
  exchange(server.baseUrl, { ...request, headers: { ...bearer(server.key), ...request.headers } });
const json = async (request: PlainRequest) => {
  const { status, body } = await ask(request);
  return { status, body: JSON.parse(body.toString()) as unknown };
};
const call = (procedure: string, body: Uint8Array | string = "", type = "application/proto") =>
  ask({ path: `/${procedure}`, headers: { "content-type": type }, body });

async function agentCall<Input extends DescMessage>(name: string, schema: Input, init: MessageInitShape<Input>) {
  const { status, body } = await call(`agent.v1.AgentService/${name}`, toBinary(schema, create(schema, init)));
  return status === 200 ? "ok" : (JSON.parse(body.toString()) as { code: string }).code;
}

test("a key is exchanged for a token that opens everything, and for nothing else (T9)", async () => {
  const path = "/auth/exchange_user_api_key";
  const exchanged = await json({ path, headers: { "content-type": "application/json" }, body: "{}" });
  expect(exchanged).toEqual({ status: 200, body: { accessToken: expect.any(String) } });
  const { accessToken } = exchanged.body as { accessToken: string };
  const me = await json({ method: "GET", path: "/v1/me", headers: bearer(accessToken) });
  expect(me).toEqual({
    status: 200,
    body: { apiKeyName: "KEYTURN_API_KEY", createdAt: expect.stringMatching(/^\d{4}-/) },
  });
  for (const wrong of ["nonsense", accessToken, ""]) {
    expect(await json({ path, headers: bearer(wrong), body: "{}" })).toEqual({
      status: 401,
      body: { error: { code: "unauthenticated", message: expect.any(String) } },
    });
  }
});

test("the models, with the names of the default one", async () => {
  const { body } = await json({ method: "GET", path: "/v1/models" });
  const { items } = body as { items: { id: string; displayName: string; aliases: string[] }[] };
  expect(items.map(({ id, displayName, aliases }) => [id, displayName, aliases])).toEqual([
    ["gpt-5", "Five", ["auto", "default", "fast"]],
    ["demo", expect.stringContaining("demo"), []],
  ]);
  expect(JSON.stringify(body)).not.toContain("provider-secret");
  expect(await json({ method: "GET", path: "/v1/repositories" })).toEqual({ status: 200, body: { items: [] } });
  const available = await call("aiserver.v1.AiService/AvailableModels");
  expect(fromBinary(AvailableModelsResponseSchema, available.body)).toMatchObject({
    modelNames: ["gpt-5", "demo"],
    composerModelConfig: { defaultModel: "gpt-5", fallbackModels: ["gpt-5", "demo"] },
  });
  const fallback = await call("aiserver.v1.AiService/GetDefaultModel");
  expect(fromBinary(GetDefaultModelResponseSchema, fallback.body).model).toBe("gpt-5");
});

test("what a client asks on the way, and an empty answer for the rest (P1)", async () => {
  const config = await call("aiserver.v1.ServerConfigService/GetServerConfig");
  expect(fromBinary(GetServerConfigResponseSchema, config.body).http2Config).toBe(Http2Config.FORCE_ALL_DISABLED);
  const privacy = await call("aiserver.v1.DashboardService/GetUserPrivacyMode", Uint8Array.of(8, 1));
  expect(fromBinary(GetUserPrivacyModeResponseSchema, privacy.body).privacyMode).toBe(PrivacyMode.NO_STORAGE);
  const statsig = await call("aiserver.v1.AnalyticsService/BootstrapStatsig", "{}", "application/json");
  expect([statsig.status, statsig.headers["content-type"], statsig.body.toString()]).toEqual([
    200,
    "application/json",
    "{}",
  ]);
  const repos = await call("aiserver.v1.DashboardService/GetTeamReposOrEmptyIfNotInTeam", new Uint8Array(1_000));
  expect([repos.status, repos.headers["content-type"], repos.body.length]).toEqual([200, "application/proto", 0]);
  const metrics = await ask({ method: "GET", path: "/metrics" });
  expect(metrics.body.toString()).toContain(
    'keyturn_unknown_calls_total{name="DashboardService/GetTeamReposOrEmptyIfNotInTeam"} 1',
  );
  expect((await call("agent.v1.AgentService/GetSignedUrlForAttachedMedia")).body.toString()).toContain("unimplemented");
  expect((await call("agent.v1.AgentService/NoSuchThing")).status).toBe(501);
  expect((await call("aiserver.v1.AiService/Other", "", "text/plain")).status).toBe(415);
});

test("conversation calls check what they are given and keep it", async () => {
  const metadata = (init: MessageInitShape<typeof UpdateConversationMetadataRequestSchema>) =>
    agentCall("UpdateConversationMetadata", UpdateConversationMetadataRequestSchema, init);
  expect(await metadata({ conversationId: " " })).toBe("invalid_argument");
  expect(await metadata({ conversationId: "c1", name: "First", workspacePaths: ["/w"] })).toBe("ok");
  expect(await metadata({ conversationId: "c1", name: "Second", onlySetNameIfEmpty: true })).toBe("ok");

  const value = new TextEncoder().encode("blob");
  const id = createHash("sha256").update(value).digest();
  const upload = (init: MessageInitShape<typeof UploadConversationBlobsRequestSchema>) =>
    agentCall("UploadConversationBlobs", UploadConversationBlobsRequestSchema, { conversationId: "c1", ...init });
  expect(await upload({ blobs: [{ id, value }] })).toBe("ok");
  expect(await upload({ blobs: [{ id, value }], chunkIndex: 1, totalChunks: 2 })).toBe("ok");
  expect(await upload({ chunkIndex: 2, totalChunks: 2 })).toBe("invalid_argument");
  expect(await upload({ blobs: [{ id: Uint8Array.of(1), value }] })).toBe("invalid_argument");
  expect(await upload({ blobs: Array.from({ length: 1_001 }, () => ({ id, value })) })).toBe("resource_exhausted");

  const clone = (conversationId: string, sourceConversationId: string) =>
    agentCall("NotifyConversationClone", NotifyConversationCloneRequestSchema, {
      conversationId,
      sourceConversationId,
    });
  expect([
    await clone("c2", "c1"),
    await clone("c2", "unknown"),
    await clone("c2", "c2"),
    await clone("", "c1"),
  ]).toEqual(["ok", "ok", "invalid_argument", "invalid_argument"]);
});

test("health needs no key; everything else does, and unknown paths are 404", async () => {
  const open = async (path: string) => (await exchange(server.baseUrl, { method: "GET", path })).status;
  expect([await open("/healthz"), await open("/readyz"), await open("/")]).toEqual([200, 200, 200]);
  for (const path of ["/metrics", "/v1/models", "/v1/me", "/api/v1/runs", "/nothing"])
    expect([path, await open(path)]).toEqual([path, 401]);
  expect(await json({ method: "GET", path: "/nothing" })).toMatchObject({
    status: 404,
    body: { error: { code: "not_found" } },
  });
  expect((await ask({ method: "GET", path: "/aiserver.v1.BidiService/BidiAppend" })).status).toBe(405);
  expect((await ask({ method: "PUT", path: "/v1/me" })).status).toBe(405);
  expect((await ask({ method: "HEAD", path: "/healthz" })).status).toBe(200);
});

test("an allow-listed page gets CORS headers, no other does", async () => {
  const origin = "https://app.example";
  const preflight = await exchange(server.baseUrl, { method: "OPTIONS", path: "/v1/models", headers: { origin } });
  expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([204, origin]);
  const allowed = await ask({ method: "GET", path: "/v1/models", headers: { origin } });
  expect([allowed.status, allowed.headers["access-control-allow-origin"]]).toEqual([200, origin]);
  const own = await ask({ method: "GET", path: "/v1/models" });
  expect(own.headers["access-control-allow-origin"]).toBeUndefined();
});

test("the admin API lists and cancels runs", async () => {
  const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key, onExec: () => undefined });
  await session.ask("hello", { conversationId: "admin-test" });
  await session.until(({ message }) => message.case === "execServerMessage");
  const { body } = await json({ method: "GET", path: "/api/v1/runs" });
  expect((body as { items: object[] }).items).toContainEqual({
    requestId: session.requestId,
    generation: 0,
    conversationId: "admin-test",
    model: expect.any(String),
    phase: "waiting_external",
    createdAt: expect.stringMatching(/^\d{4}-/),
    subscribers: 1,
  });
  expect((await ask({ path: `/api/v1/runs/${session.requestId}/cancel` })).status).toBe(200);
  expect(await session.ended).toMatchObject({ code: "canceled", details: [] });
  expect((await ask({ path: `/api/v1/runs/${session.requestId}/cancel` })).status).toBe(404);
});

test("keys are made and revoked while the server runs", async () => {
  const headers = { "content-type": "application/json" };
  const made = await json({ path: "/api/v1/keys", headers, body: JSON.stringify({ name: "ci" }) });
  expect(made).toEqual({
    status: 201,
    body: { keyId: expect.any(String), name: "ci", key: expect.stringMatching(/^kt_/) },
  });
  const { keyId, key } = made.body as { keyId: string; key: string };
  const me = () => ask({ method: "GET", path: "/v1/me", headers: bearer(key) });
  expect((await me()).status).toBe(200);
  expect(JSON.stringify((await json({ method: "GET", path: "/api/v1/keys" })).body)).not.toMatch(/hash|kt_/);
  expect((await ask({ path: `/api/v1/keys/${keyId}/revoke` })).status).toBe(200);
  expect((await me()).status).toBe(401);
  expect((await ask({ path: "/api/v1/keys", headers, body: "{}" })).status).toBe(400);
  expect(server.log.join("")).not.toContain(key);
});
