import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { RequestContextArgsSchema } from "@keyturn/protocol/agent";
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import type { ExecutorOptions } from "./executor.js";
import { isRunning, openExecutor, type TestExecutor, temporaryFolder } from "./testing.js";

const script = fileURLToPath(new URL("./fixtures/mcp-server.mjs", import.meta.url));
const tiny = { command: process.execPath, args: [script, "--stdio"] };

async function callTool(client: TestExecutor, value: { [name: string]: unknown }, text = "hi") {
  const args = { text: fromJson(ValueSchema, text) };
  const answer = await client.askOnce({ case: "mcpArgs", value: { args, ...value } });
  if (answer.case !== "mcpResult") throw new Error(String(answer.case));
  return answer.value.result;
}

const said = (pattern: RegExp) => ({
  case: "success",
  value: { content: [{ content: { value: { text: expect.stringMatching(pattern) as string } } }] },
});

test("tools are listed for the context and for the state, and called by either name", async () => {
  const client = await openExecutor({ mcpServers: { tiny } });
  const context = await client.executor.requestContext(create(RequestContextArgsSchema));
  expect(
    context.tools.map(({ name, toolName, providerIdentifier }) => [name, toolName, providerIdentifier])[0],
  ).toEqual(["tiny-echo", "echo", "tiny"]);
  expect(context.mcpInstructions).toMatchObject([{ serverName: "tiny", instructions: "Use it well." }]);
  const state = await client.askOnce({ case: "mcpStateExecArgs", value: {} });
  expect(state).toMatchObject({
    value: { result: { case: "success", value: { servers: [{ serverName: "tiny", status: "connected" }] } } },
  });
  expect(await callTool(client, { name: "tiny-echo" })).toMatchObject(said(/^hi from \d+$/));
  expect(await callTool(client, { providerIdentifier: "tiny", toolName: "echo" })).toMatchObject(said(/^hi from/));
});

test("errors of a tool stay errors, all kinds of content arrive", async () => {
  const client = await openExecutor({ mcpServers: { tiny } });
  expect(await callTool(client, { name: "tiny-fail" })).toMatchObject({
    case: "success",
    value: { isError: true, content: [{ content: { value: { text: "it did not work" } } }] },
  });
  expect(await callTool(client, { name: "tiny-shape" })).toMatchObject({
    case: "success",
    value: {
      isError: false,
      content: [
        { content: { case: "image", value: { mimeType: "image/png" } } },
        { content: { value: { text: "[resource a: tiny://a]" } } },
        { content: { value: { text: "inside" } } },
      ],
      structuredContent: { answer: 42 },
    },
  });
});

test("unknown tools and servers are told with what there is", async () => {
  const client = await openExecutor({ mcpServers: { tiny } });
  expect(await callTool(client, { name: "tiny-none" })).toMatchObject({
    case: "toolNotFound",
    value: { name: "tiny-none", availableTools: ["tiny-echo", "tiny-fail", "tiny-crash", "tiny-shape"] },
  });
  expect(await callTool(client, { name: "other-echo" })).toMatchObject({
    case: "serverNotFound",
    value: { availableServers: ["tiny"] },
  });
});

test("a server that crashes is told with its last words, and started again by the next call", async () => {
  const client = await openExecutor({ mcpServers: { tiny } });
  expect(await callTool(client, { name: "tiny-crash" })).toMatchObject({
    case: "error",
    value: { error: expect.stringMatching(/tiny ended while running crash.*something broke inside/s) as string },
  });
  const again = await callTool(client, { name: "tiny-echo" });
  expect(again).toMatchObject(said(/^hi from \d+$/));
  const pid = Number(/\d+$/.exec(JSON.stringify(again).match(/from \d+/)?.[0] ?? "")?.[0]);
  expect(await isRunning(pid)).toBe(true);
  await client.executor.close();
  expect(await isRunning(pid)).toBe(false);
});

test("a server that cannot be started says why, in the state and in the call", async () => {
  const broken = { command: process.execPath, args: ["-e", "console.error('no such luck'); process.exit(1)"] };
  const client = await openExecutor({ mcpServers: { broken, absent: { command: "/nowhere/server" } } });
  const words = expect.stringMatching(/broken cannot be used.*no such luck/s) as string;
  expect(await callTool(client, { name: "broken-tool" })).toMatchObject({ case: "error", value: { error: words } });
  const state = await client.askOnce({ case: "mcpStateExecArgs", value: { serverIdentifiers: ["absent"] } });
  const servers = [{ status: expect.stringContaining("ENOENT") as string }];
  expect(state).toMatchObject({ value: { result: { value: { servers } } } });
});

test("resources are listed, read and stored", async () => {
  const client = await openExecutor({ mcpServers: { tiny } });
  const listed = await client.askOnce({ case: "listMcpResourcesExecArgs", value: {} });
  const resources = [{ uri: "tiny://note", name: "note", mimeType: "text/plain", server: "tiny" }];
  expect(listed).toMatchObject({ value: { result: { case: "success", value: { resources } } } });
  const read = (value: { [name: string]: string }) =>
    client.askOnce({ case: "readMcpResourceExecArgs", value: { server: "tiny", uri: "tiny://note", ...value } });
  expect(await read({})).toMatchObject({ value: { result: { value: { content: { value: "a note" } } } } });
  expect(await read({ downloadPath: "notes/a.txt" })).toMatchObject({ value: { result: { case: "success" } } });
  expect(await readFile(join(client.workspace, "notes/a.txt"), "utf8")).toBe("a note");
  expect(await read({ uri: "tiny://none" })).toMatchObject({ value: { result: { case: "error" } } });
  expect(await read({ server: "none" })).toMatchObject({ value: { result: { case: "error" } } });
});

test("over HTTP", async () => {
  const { makeServer } = (await import(script)) as { makeServer: () => Server };
  const http = createServer((request, response) => {
    void (async () => {
      const body = await new Response(request as unknown as ReadableStream).text();
      const url = `http://127.0.0.1${request.url ?? "/"}`;
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
      const method = request.method ?? "GET";
      const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      await makeServer().connect(transport);
      const answer = await transport.handleRequest(new Request(url, { method, headers, ...(body ? { body } : {}) }));
      // A client without the configured header is not let in.
      response.writeHead(request.headers["x-test"] === "1" ? answer.status : 401, Object.fromEntries(answer.headers));
      response.end(method === "POST" ? await answer.text() : undefined);
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => http.closeAllConnections());
  onTestFinished(() => void http.close());
  const { port } = http.address() as AddressInfo;
  const web = { url: `http://127.0.0.1:${port}/mcp`, headers: { "x-test": "1" } };
  const client = await openExecutor({ mcpServers: { web } });
  expect(await callTool(client, { name: "web-echo" })).toMatchObject(said(/^hi from/));
});

test("a project's own servers start only when the policy lets them", async () => {
  const workspace = await temporaryFolder();
  await mkdir(join(workspace, ".cursor"));
  await writeFile(join(workspace, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { tiny } }));
  const asked: string[] = [];
  const policy: ExecutorOptions["policy"] = {
    decide: ({ tool, server }) => {
      asked.push(`${tool} ${server}`);
      return Promise.resolve({ allow: false, reason: "not trusted" });
    },
  };
  const client = await openExecutor({ workspace, policy, settings: "project" });
  const state = await client.askOnce({ case: "mcpStateExecArgs", value: {} });
  const servers = [{ serverName: "tiny", tools: [], status: expect.stringContaining("not trusted") as string }];
  expect(state).toMatchObject({ value: { result: { value: { servers } } } });
  expect(asked).toEqual(["mcp-server tiny"]);
  const without = await openExecutor({ workspace });
  const none = await without.askOnce({ case: "mcpStateExecArgs", value: {} });
  expect(none).toMatchObject({ value: { result: { value: { servers: [] } } } });
});
