import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import {
  type ConnectOptions,
  Http1Transport,
  Http2Transport,
  MemoryStore,
  Session,
  type SessionEvent,
  type Transport,
} from "@keyturn/client";
import { SubagentArgsSchema } from "@keyturn/protocol/agent";
import { decodeClientMessage } from "@keyturn/protocol/codec";
import { afterEach, describe, expect, test } from "vitest";
import { openClient, readTurn, type ShownTurn, type TestClient, updateOf } from "../support/client-turn.js";
import { type CuttingProxy, startCuttingProxy } from "../support/cutting-proxy.js";
import { startTestServer, type TestServer } from "../support/server.js";
import { startServerProcess, temporaryFolder } from "../support/server-process.js";
import { objects, type VendorScript } from "../support/vendors/script.js";
import { startVendor, type Vendor } from "../support/vendors/start-vendor.js";

/**
 * The reference client against a real server, through a proxy that cuts connections: whatever the moment, the user sees the same text once and
 * every tool runs once.
 */

const cleanups: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

function keep<Resource extends AsyncDisposable>(resource: Resource): Resource {
  cleanups.push(resource);
  return resource;
}

/** A turn with everything in it: text, a command with an effect, a new file, text again. It goes by the results so far. */
const script: VendorScript = ({ body }) => {
  switch (objects(body.messages).filter(({ role }) => role === "tool").length) {
    case 0:
      return {
        text: "First a command. ",
        calls: [{ name: "Shell", args: { command: "echo ran >> runs.txt && echo out" } }],
      };
    case 1:
      return { calls: [{ name: "Write", args: { path: "note.txt", contents: "a note\n" } }] };
    case 2:
      return { text: "Written. ", calls: [{ name: "Read", args: { path: "note.txt" } }] };
    default:
      return { text: "Done, überall." };
  }
};
const wholeText = "First a command. Written. Done, überall.";
const wholeTools = ["shellToolCall", "editToolCall", "readToolCall"];

function configFor(vendor: Vendor): string {
  return `
providers: { scripted: { type: openai-compatible, apiKey: k-0123456789, baseURL: "${vendor.baseURL}" } }
models: [{ id: scripted, provider: scripted }]
limits: { gapAfterTakeoverMs: 100 }`;
}

/** What a message is, finely enough to tell the phases of a turn apart; "" for what is no message. */
function kindOf(event: SessionEvent): string {
  if (event.kind !== "message") return "";
  const { message } = event.message;
  const inner = (message.value as { message?: { case?: string } } | undefined)?.message?.case ?? "";
  return `${message.case} ${inner}`;
}

interface Place {
  readonly vendor: Vendor;
  readonly server: TestServer;
  readonly proxy: CuttingProxy;
  readonly address: ConnectOptions;
}

async function setUp(of: VendorScript = script): Promise<Place> {
  const vendor = keep(await startVendor("openai-compatible", of));
  const server = keep(await startTestServer({ config: configFor(vendor) }));
  const proxy = keep(await startCuttingProxy(server.baseUrl));
  return { vendor, server, proxy, address: { baseUrl: proxy.url, apiKey: server.key } };
}

async function oneTurn(
  client: TestClient,
  onMessage?: (count: number, event: SessionEvent) => unknown,
): Promise<ShownTurn> {
  return readTurn(await client.agent.start().say("go", { model: "scripted" }), onMessage);
}

async function expectWhole(turn: ShownTurn, client: TestClient): Promise<void> {
  expect(turn.outcome).toMatchObject({ kind: "finished" });
  expect(turn.text).toBe(wholeText);
  expect(turn.tools).toEqual(wholeTools);
  expect(await readFile(join(client.workspace, "runs.txt"), "utf8")).toBe("ran\n");
  expect(await readFile(join(client.workspace, "note.txt"), "utf8")).toBe("a note\n");
}

describe.each(["http1", "http2", "poll"] as const)("over %s", (transport) => {
  test("a connection that is cut at any kind of message costs nothing: same text, every tool once", async () => {
    const { vendor, proxy, address } = await setUp();
    const quiet = await openClient({ ...address, transport });
    const undisturbed = await oneTurn(quiet);
    await expectWhole(undisturbed, quiet);
    await quiet[Symbol.asyncDispose]();
    expect(undisturbed.returns).toBe(0);
    const all = [...new Set(undisturbed.events.map(kindOf).filter((kind) => kind !== ""))];
    expect(all.length).toBeGreaterThanOrEqual(12);
    // Every kind over the usual way; half of them over the others, which share all but the bytes.
    const kinds = all.filter((_, index) => transport === "http1" || index % 2 === 0);

    let returns = 0;
    for (const kind of kinds) {
      const client = await openClient({ ...address, transport });
      let isCut = false;
      const turn = await oneTurn(client, (_count, event) => {
        if (!isCut && kindOf(event) === kind) proxy.cut();
        isCut ||= kindOf(event) === kind;
      });
      await expectWhole(turn, client);
      expect(isCut, kind).toBe(true);
      returns += turn.returns;
      await client[Symbol.asyncDispose]();
    }
    // The last messages of all may have arrived with the end, and those of a poll arrive with its end.
    expect(returns).toBeGreaterThanOrEqual(transport === "poll" ? 0 : kinds.length - 2);
    // Nothing was asked of the model twice.
    expect(vendor.requests).toHaveLength(4 * (kinds.length + 1));
  });

  test("a connection that is cut in the middle of a frame costs nothing", async () => {
    const { proxy, address } = await setUp();
    for (let sizeBytes = 150; sizeBytes < 4_000; sizeBytes += 967) {
      const client = await openClient({ ...address, transport });
      proxy.cutAfterBytes(sizeBytes);
      await expectWhole(await oneTurn(client), client);
      await client[Symbol.asyncDispose]();
    }
  });

  test("it goes on from the stored state, in another process too; blobs come from the client's store", async () => {
    const { vendor, address, server, proxy } = await setUp([{ text: "one" }, { text: "two" }, { text: "three" }]);
    const folder = keep(await temporaryFolder()).path;
    const first = await openClient({ ...address, transport }, { folder });
    const conversation = first.agent.start();
    await readTurn(await conversation.say("say one", { model: "scripted" }));
    const fork = await conversation.fork();
    await readTurn(await conversation.say("say two"));
    await first[Symbol.asyncDispose]();

    // Another server with an empty store: only the client has the conversation.
    const other = keep(await startTestServer({ config: configFor(vendor) }));
    proxy.target = other.baseUrl;
    const second = keep(await openClient({ ...address, apiKey: other.key, transport }, { folder }));
    const resumed = await second.agent.resume(fork.stored.id);
    expect(resumed?.stored).toMatchObject({ title: "say one", model: "scripted", parent: conversation.stored.id });
    const turn = await readTurn(await (resumed ?? fork).say("say three"));
    expect(turn.text).toBe("three");
    const prompt = JSON.stringify(vendor.requests.at(-1)?.body.messages);
    expect(prompt).toContain("say one");
    expect(prompt).not.toContain("say two");
    expect(server.log.join("")).not.toContain("say one");
  });
});

/** Appends as a bad network delivers them: each twice, the first answer lost, results after their close. */
class UnrulyTransport implements Transport {
  readonly name = "http1";
  readonly #inner: Http1Transport;
  #sent = 0;
  #held: (() => void)[] = [];

  constructor(inner: Http1Transport) {
    this.#inner = inner;
  }

  open(...args: Parameters<Transport["open"]>) {
    return this.#inner.open(...args);
  }

  async append(...args: Parameters<NonNullable<Transport["append"]>>) {
    const isFirstTry = ++this.#sent % 3 === 1;
    const { message } = decodeClientMessage(args[2]);
    const isResult = message.case === "execClientMessage" && message.value.message.case !== "shellStream";
    if (isResult) await new Promise<void>((resolve) => this.#held.push(resolve));
    await this.#inner.append(...args);
    for (const release of this.#held.splice(0)) release();
    if (isFirstTry) throw Object.assign(new Error("the answer was lost"), { code: "ECONNRESET" });
    await this.#inner.append(...args);
  }
}

test("appends that come twice, late and out of order have one effect each", async () => {
  const { vendor, address } = await setUp();
  const http1 = new Http1Transport(address);
  const client = keep(await openClient(address, { server: { transports: [new UnrulyTransport(http1)] } }));
  await expectWhole(await oneTurn(client), client);
  expect(vendor.requests).toHaveLength(4);
});

describe("a server that dies", () => {
  test.each(["textDelta", "toolCallStarted", "toolCallCompleted", "turnEnded"])(
    "by kill -9 at %s: the same run goes on when it is back, every tool once",
    async (moment) => {
      const vendor = keep(await startVendor("openai-compatible", script));
      const folder = keep(await temporaryFolder()).path;
      await writeFile(join(folder, "keyturn.yaml"), configFor(vendor));
      let server = await startServerProcess(folder);
      cleanups.push({ [Symbol.asyncDispose]: async () => void (await server.stop("SIGKILL")) });
      const proxy = keep(await startCuttingProxy(server.baseUrl));
      const client = keep(await openClient({ baseUrl: proxy.url, apiKey: server.key }));
      let isKilled = false;
      const turn = await oneTurn(client, async (_count, event) => {
        if (isKilled || updateOf(event)?.case !== moment) return;
        isKilled = true;
        await server.stop("SIGKILL");
        server = await startServerProcess(folder);
        proxy.target = server.baseUrl;
      });
      expect(isKilled).toBe(true);
      expect(turn.outcome).toMatchObject({ kind: "finished" });
      expect(turn.tools).toEqual(wholeTools);
      expect(await readFile(join(client.workspace, "runs.txt"), "utf8")).toBe("ran\n");
      // A pass that was cut is asked again; what was shown of it stays, nothing is lost.
      expect(turn.text.endsWith("Done, überall.")).toBe(true);
    },
  );

  test("that stops in order: the run ends so that the conversation goes on in a new one", async () => {
    const { server, proxy, address } = await setUp((_request, index) =>
      index === 0 ? { text: "half", hang: true, deltaCount: 1 } : { text: " and half" },
    );
    const client = keep(await openClient(address));
    const conversation = client.agent.start();
    const first = await readTurn(await conversation.say("go", { model: "scripted" }), async (_count, event) => {
      if (updateOf(event)?.case !== "textDelta" || server.baseUrl !== proxy.target) return;
      await server.restart();
      proxy.target = server.baseUrl;
    });
    expect(first.outcome).toMatchObject({ kind: "failed", error: { code: "unavailable", isRetryable: true } });
    const second = await readTurn(await conversation.goOn());
    expect([second.outcome.kind, second.text]).toEqual(["finished", " and half"]);
  });

  test("and does not come back: the session gives up with words", async () => {
    const { proxy, address } = await setUp([{ text: "never", hang: true, deltaCount: 1 }]);
    const client = keep(await openClient(address, { limits: { giveUpAfterMs: 300 } }));
    const turn = await oneTurn(client, (_count, event) => {
      if (updateOf(event)?.case !== "textDelta") return;
      proxy.setOpen(false);
      proxy.cut();
    });
    expect(turn.outcome).toEqual({ kind: "lost", why: expect.stringMatching(/connection|closed|hang/) as string });
  });
});

describe("ends", () => {
  test("a cancel reaches the model's provider, and stops a command with all it has started", async () => {
    const { address } = await setUp([
      { calls: [{ name: "Shell", args: { command: "echo $$ > pid.txt; echo started; sleep 600 & wait" } }] },
    ]);
    const client = keep(await openClient(address));
    const session = await client.agent.start().say("go", { model: "scripted" });
    const turn = await readTurn(session, (_count, event) => {
      if (updateOf(event)?.case === "shellOutputDelta") void session.cancel("enough");
    });
    expect(turn.outcome).toEqual({ kind: "cancelled", why: expect.stringContaining("enough") as string });
    const pid = Number(await readFile(join(client.workspace, "pid.txt"), "utf8"));
    expect(existsSync(`/proc/${pid}`) && (await readFile(`/proc/${pid}/stat`, "utf8")).includes(") S ")).toBe(false);
  });

  test("an unknown model and a wrong key are told apart from a lost server", async () => {
    const { address } = await setUp();
    const client = keep(await openClient(address));
    const unknown = await readTurn(await client.agent.start().say("go", { model: "nope" }));
    expect(unknown.outcome).toMatchObject({
      kind: "failed",
      error: { code: "invalid_argument", kind: "BAD_MODEL_NAME" },
    });
    await expect(openClient({ ...address, apiKey: "wrong" })).rejects.toMatchObject({ status: 401 });
    const refused = new Session({
      transports: [new Http2Transport({ ...address, apiKey: "wrong" })],
      store: new MemoryStore(),
      request: {},
    });
    expect(await refused.outcome).toMatchObject({ kind: "refused", refusal: { status: 401 } });
    await expect(openClient({ baseUrl: "http://127.0.0.1:1", apiKey: "x" })).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
  });
});

test("hooks round a turn: a message may be refused, the end is told", async () => {
  const { vendor, address } = await setUp([{ text: "ok" }]);
  const client = keep(await openClient(address));
  await mkdir(join(client.workspace, ".keyturn"));
  const guard = `grep -q secret && echo '{"continue":false,"user_message":"no secrets"}' || true`;
  const hooks = { beforeSubmitPrompt: [{ command: guard }], stop: [{ command: "cat > stop.json" }] };
  await writeFile(join(client.workspace, ".keyturn", "hooks.json"), JSON.stringify({ version: 1, hooks }));
  const { workspace } = client;
  const hooked = await openClient(address, { workspace, settings: "project" });
  await expect(hooked.agent.start().say("a secret", { model: "scripted" })).rejects.toThrow("no secrets");
  expect(vendor.requests).toHaveLength(0);
  expect((await oneTurn(hooked)).text).toBe("ok");
  await hooked[Symbol.asyncDispose]();
  expect(JSON.parse(await readFile(join(workspace, "stop.json"), "utf8"))).toMatchObject({ status: "completed" });
});

test("subagents are runs of their own on the same server, with the same hands", async () => {
  const { vendor, address } = await setUp([
    { text: "I look.", calls: [{ name: "Shell", args: { command: "echo child > child.txt" } }] },
    { text: "The child is done." },
    { text: "In the background." },
  ]);
  const ended: string[] = [];
  const client = keep(await openClient(address, { subagentListener: { ended: ({ id }) => ended.push(id) } }));
  const { subagents } = client.agent;
  const args = { subagentType: "helper", modelId: "scripted", prompt: "look", parentConversationId: "agent-parent" };
  const first = await subagents.run(create(SubagentArgsSchema, args), new AbortController().signal);
  expect(first.result).toMatchObject({
    case: "success",
    value: {
      finalMessage: "The child is done.",
      toolCallCount: 1,
      agentId: expect.stringMatching(/^agent-/) as string,
    },
  });
  expect(await readFile(join(client.workspace, "child.txt"), "utf8")).toBe("child\n");

  const background = await subagents.run(
    create(SubagentArgsSchema, { ...args, runInBackground: true }),
    new AbortController().signal,
  );
  expect(background.result).toMatchObject({ case: "success", value: { backgroundReason: 1 } });
  await subagents.idle();
  expect(ended).toHaveLength(2);

  const resumeAgentId = first.result.case === "success" ? first.result.value.agentId : "";
  const resumed = await subagents.run(
    create(SubagentArgsSchema, { ...args, resumeAgentId }),
    new AbortController().signal,
  );
  // The script has no fourth answer: what matters is that the vendor was told the conversation so far.
  expect(resumed.result.case).toBeDefined();
  expect(JSON.stringify(vendor.requests.at(-1)?.body.messages)).toContain("The child is done.");
  // A person never goes on with a subagent's conversation by chance.
  expect(await client.agent.resume()).toBeUndefined();
});
