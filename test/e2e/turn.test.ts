import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  AgentClientMessageSchema,
  type AgentServerMessage,
  type ConversationStateStructure,
  ConversationStateStructureSchema,
} from "@keyturn/protocol/agent";
import { encodeClientMessage, encodeHex } from "@keyturn/protocol/codec";
import { afterEach, describe, expect, test } from "vitest";
import { isUpdate, Session, type SessionOptions, userMessage } from "../support/driver.js";
import { startTestServer, type TestServer } from "../support/server.js";
import type { JsonObject, VendorScript } from "../support/vendors/script.js";
import { startVendor, type Vendor } from "../support/vendors/start-vendor.js";
import { MemoryWorkspace } from "../support/workspace.js";

const cleanups: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

async function setUp(script: VendorScript, limits = ""): Promise<{ server: TestServer; vendor: Vendor }> {
  const vendor = await startVendor("openai-compatible", script);
  cleanups.push(vendor);
  const config = `
providers: { scripted: { type: openai-compatible, apiKey: canary-key-0123456789, baseURL: "${vendor.baseURL}" } }
models: [{ id: scripted, provider: scripted }]
aliases: { default: scripted }
${limits}`;
  const server = await startTestServer({ config });
  cleanups.push(server);
  return { server, vendor };
}

async function open(server: TestServer, more: Partial<SessionOptions> = {}): Promise<Session> {
  const session = await Session.open({ baseUrl: server.baseUrl, bearer: server.key, ...more });
  cleanups.push(session);
  return session;
}

/** Messages of a captured chat request. */
const messagesOf = (vendor: Vendor, index: number) => vendor.requests[index]?.body.messages as JsonObject[];

const checkpointsOf = (session: Session) =>
  session.messages.flatMap(({ message }) => (message.case === "conversationCheckpointUpdate" ? message.value : []));

function update(message: AgentServerMessage) {
  return message.message.case === "interactionUpdate" ? message.message.value.message : undefined;
}

describe("a turn", () => {
  test("reads, edits and runs, its results in call order, its files really changed (U1, O7)", async () => {
    const workspace = new MemoryWorkspace({ "a.txt": "one\ntwo\n" });
    const { server, vendor } = await setUp([
      {
        text: "I look.",
        calls: [
          { name: "Read", args: { path: "/project/a.txt" }, id: "call_a" },
          { name: "Read", args: { path: "/project/missing.txt" }, id: "call_b" },
        ],
        usage: { input: 10, output: 5 },
      },
      { calls: [{ name: "Edit", args: { path: "/project/a.txt", old_string: "two", new_string: "2" } }] },
      { calls: [{ name: "Shell", args: { command: "cat a.txt" } }], usage: { input: 7, output: 3 } },
      { text: "Done.", usage: { input: 20, output: 4 } },
    ]);
    const session = await open(server, { onExec: workspace.answer });
    await session.ask("Change two to 2.", { model: "scripted" });
    expect(await session.ended).toEqual({ kind: "completed" });

    expect(workspace.files.get("/project/a.txt")).toBe("one\n2\n");
    expect(session.text).toBe("I look.Done.");
    // One request a pass: nothing is asked of the model twice.
    expect(vendor.requests).toHaveLength(4);
    const second = messagesOf(vendor, 1).slice(-3);
    expect(second.map((message) => message.role)).toEqual(["assistant", "tool", "tool"]);
    expect(String(second[1]?.content)).toContain("two");
    expect(String(second[2]?.content)).toContain("not found");
    const calls = session.messages.map(update).flatMap((of) => {
      if (of?.case === "toolCallStarted") return [`started ${of.value.toolCall?.tool.case}`];
      if (of?.case !== "toolCallCompleted") return [];
      const tool = of.value.toolCall?.tool;
      const result = (tool?.value as { result?: { result: { case: string } } } | undefined)?.result?.result.case;
      return [`completed ${tool?.case} ${result}`];
    });
    expect(calls).toEqual([
      "started readToolCall",
      "started readToolCall",
      "completed readToolCall success",
      "completed readToolCall error",
      "started editToolCall",
      "completed editToolCall success",
      "started shellToolCall",
      "completed shellToolCall success",
    ]);
    const ended = session.messages.map(update).find((of) => of?.case === "turnEnded");
    expect(ended?.case === "turnEnded" && [ended.value.outputTokens, ended.value.inputTokens].map(Number)).toEqual([
      expect.any(Number),
      expect.any(Number),
    ]);
    expect(session.messages.at(-1)).toSatisfy((last: AgentServerMessage) => isUpdate(last, "turnEnded"));
  });

  test("results that come back in reverse order go to the model in call order (U1, I-58)", async () => {
    const { server, vendor } = await setUp([
      {
        calls: ["a", "b", "c"].map((name) => ({
          name: "Read",
          args: { path: `/project/${name}` },
          id: `call_${name}`,
        })),
      },
      { text: "ok" },
    ]);
    const workspace = new MemoryWorkspace({ a: "AAA", b: "BBB", c: "CCC" });
    const held: Parameters<typeof workspace.answer>[0][] = [];
    const session = await open(server, {
      onExec: (message) => {
        if (message.message.case !== "readArgs") return workspace.answer(message);
        held.push(message);
        return undefined;
      },
    });
    await session.ask("read", { model: "scripted" });
    for await (const message of session) {
      if (message.message.case === "execServerMessage" && held.length === 3) break;
    }
    for (const message of held.reverse()) {
      const { id } = message;
      for (const answer of workspace.answer(message) ?? []) {
        await session.send({ case: "execClientMessage", value: { id, message: answer } });
      }
      await session.send({
        case: "execClientControlMessage",
        value: { message: { case: "streamClose", value: { id } } },
      });
    }
    expect(await session.ended).toEqual({ kind: "completed" });
    const results = messagesOf(vendor, 1).filter((message) => message.role === "tool");
    expect(results.map((message) => /[ABC]{3}/.exec(String(message.content))?.[0])).toEqual(["AAA", "BBB", "CCC"]);
  });

  test("a call that is broken, unknown or cut is answered with an error, and the turn goes on (I-98, I-99)", async () => {
    const workspace = new MemoryWorkspace();
    const { server, vendor } = await setUp([
      { calls: [{ name: "Read", args: '{"path": "/project/a' }] },
      { calls: [{ name: "Fly", args: {} }] },
      { calls: [{ name: "Write", args: { path: "/project/a", contents: "x" } }], finish: "length" },
      { text: "I give up." },
    ]);
    const session = await open(server, { onExec: workspace.answer });
    await session.ask("try", { model: "scripted" });
    expect(await session.ended).toEqual({ kind: "completed" });
    expect(workspace.asked).toEqual(["requestContextArgs"]);
    const results = messagesOf(vendor, 3).filter((message) => message.role === "tool");
    expect(results.map((message) => String(message.content).slice(0, 60))).toEqual([
      expect.stringMatching(/Read/),
      expect.stringMatching(/There is no tool "Fly"/),
      expect.stringMatching(/Write was not run/),
    ]);
  });

  test("an execution that is thrown or closed without a result becomes an error result (I6)", async () => {
    const { server, vendor } = await setUp(
      [
        {
          calls: [
            { name: "Read", args: { path: "/project/a" }, id: "call_a" },
            { name: "Read", args: { path: "/project/b" }, id: "call_b" },
          ],
        },
        { text: "ok" },
      ],
      "limits: { execCloseGraceMs: 20 }",
    );
    const workspace = new MemoryWorkspace();
    const session = await open(server, {
      onExec: (message) => (message.message.case === "readArgs" ? undefined : workspace.answer(message)),
    });
    await session.ask("read", { model: "scripted" });
    const ids: number[] = [];
    for await (const { message } of session) {
      if (message.case === "execServerMessage" && message.value.message.case === "readArgs") ids.push(message.value.id);
      if (ids.length === 2) break;
    }
    const [a = 0, b = 0] = ids;
    const control = (message: object) =>
      session.send({ case: "execClientControlMessage", value: { message } as never });
    await control({ case: "heartbeat", value: { id: a } });
    await control({ case: "throw", value: { id: a, error: "the disk is on fire" } });
    await control({ case: "streamClose", value: { id: b } });
    expect(await session.ended).toEqual({ kind: "completed" });
    const results = messagesOf(vendor, 1).filter((message) => message.role === "tool");
    expect(String(results[0]?.content)).toContain("the disk is on fire");
    expect(String(results[1]?.content)).toMatch(/closed|no result/i);
  });

  test("thinking is shown with its duration and goes back to the model that wrote it", async () => {
    const { server, vendor } = await setUp([
      { thinking: "hmm", calls: [{ name: "Read", args: { path: "/project/a" } }] },
      { text: "ok" },
    ]);
    const session = await open(server, { onExec: new MemoryWorkspace({ a: "A" }).answer });
    await session.ask("think", { model: "scripted" });
    expect(await session.ended).toEqual({ kind: "completed" });
    const kinds = session.messages.map((message) => update(message)?.case);
    expect(kinds.indexOf("thinkingCompleted")).toBeGreaterThan(kinds.indexOf("thinkingDelta"));
    const assistant = messagesOf(vendor, 1).find((message) => message.role === "assistant");
    expect(assistant?.reasoning_content).toBe("hmm");
  });

  test("unknown messages and fields are acknowledged and harmless (I10)", async () => {
    const { server } = await setUp([{ text: "fine" }]);
    const session = await open(server, { onExec: new MemoryWorkspace().answer });
    await session.ask("hi", { model: "scripted" });
    const strange = create(AgentClientMessageSchema);
    strange.$unknown = [{ no: 99, wireType: 2, data: new Uint8Array([3, 1, 2, 3]) }];
    expect((await session.append(50_000, encodeClientMessage(strange))).status).toBe(200);
    expect(await session.ended).toEqual({ kind: "completed" });
  });
});

describe("the conversation", () => {
  test("checkpoints follow every step, each after the blobs it stands on (O4, O5, I8)", async () => {
    const { server } = await setUp([{ calls: [{ name: "Read", args: { path: "/project/a" } }] }, { text: "done" }]);
    const session = await open(server, { onExec: new MemoryWorkspace({ a: "A" }).answer });
    await session.ask("go", { model: "scripted" });
    expect(await session.ended).toEqual({ kind: "completed" });
    const held = new Set<string>();
    const named = (state: ConversationStateStructure) =>
      [...state.rootPromptMessagesJson, ...state.turns].map(encodeHex);
    let checkpoints = 0;
    for (const { message } of session.messages) {
      if (message.case === "kvServerMessage" && message.value.message.case === "setBlobArgs") {
        held.add(encodeHex(message.value.message.value.blobId));
      }
      if (message.case === "conversationCheckpointUpdate") {
        checkpoints += 1;
        expect(named(message.value).filter((id) => !held.has(id))).toEqual([]);
      }
    }
    expect(checkpoints).toBeGreaterThanOrEqual(2);
    const last = checkpointsOf(session).at(-1);
    // system, user, call, result, answer
    expect(last?.rootPromptMessagesJson).toHaveLength(5);
    expect(last?.turns).toHaveLength(1);
  });

  test("the next turn starts from the checkpoint: the request before is its exact prefix (U6, I-123)", async () => {
    const { server, vendor } = await setUp([
      { calls: [{ name: "Read", args: { path: "/project/a" } }] },
      { text: "first answer" },
      { text: "second answer" },
    ]);
    const context = {
      rules: [
        { fullPath: "/project/AGENTS.md", content: "Always be brief.", type: { type: { case: "global", value: {} } } },
      ],
      gitRepos: [{ path: "/project", status: "## main\n M a\n", branchName: "main" }],
    };
    const workspace = new MemoryWorkspace({ a: "A" }, context);
    const blobs = new Map<string, Uint8Array>();
    const first = await open(server, { onExec: workspace.answer, blobs });
    await first.ask("one", { model: "scripted", conversationId: "agent-x" });
    await first.ended;
    const state = checkpointsOf(first).at(-1);
    const second = await open(server, { onExec: workspace.answer, blobs });
    await second.send(nextMessage("two", "agent-x", state));
    expect(await second.ended).toEqual({ kind: "completed" });

    const before = messagesOf(vendor, 1);
    const after = messagesOf(vendor, 2);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map((message) => message.role)).toEqual(["assistant", "user"]);
    expect(JSON.stringify(after.at(-1))).toContain("two");
    const system = String(before[0]?.content);
    expect(system).toContain("Always be brief.");
    expect(system).toContain("Workspace: /project");
    expect(JSON.stringify(before[1])).toContain("main");
    // Nothing of the setting changed, so it is not told again.
    expect(JSON.stringify(after.at(-1))).not.toContain("Always be brief.");
    expect(vendor.requests[2]?.body.tools).toEqual(vendor.requests[0]?.body.tools);
  });

  test("blobs this server never saw are asked of the client, and lost ones end nothing (I8, O5, I-45)", async () => {
    const script: VendorScript = [{ text: "first answer" }];
    const blobs = new Map<string, Uint8Array>();
    const one = await setUp(script);
    const first = await open(one.server, { onExec: new MemoryWorkspace().answer, blobs });
    await first.ask("remember me", { model: "scripted", conversationId: "agent-y" });
    await first.ended;
    const state = checkpointsOf(first).at(-1);

    const two = await setUp([{ text: "I remember" }]);
    const second = await open(two.server, { onExec: new MemoryWorkspace().answer, blobs });
    await second.send(nextMessage("who am I?", "agent-y", state));
    expect(await second.ended).toEqual({ kind: "completed" });
    const gets = second.messages.filter(
      ({ message }) => message.case === "kvServerMessage" && message.value.message.case === "getBlobArgs",
    );
    expect(gets).toHaveLength(3);
    expect(JSON.stringify(messagesOf(two.vendor, 0))).toContain("remember me");

    const three = await setUp([{ text: "I do not remember" }]);
    const third = await open(three.server, { onExec: new MemoryWorkspace().answer, blobs: new Map() });
    await third.send(nextMessage("who am I?", "agent-y", state));
    expect(await third.ended).toEqual({ kind: "completed" });
    expect(JSON.stringify(messagesOf(three.vendor, 0))).toContain("could not be recovered");
  });

  test("a newer run of the same conversation supersedes the older one (R7)", async () => {
    const { server, vendor } = await setUp((_request, index) =>
      index === 0 ? { text: "…", hang: true } : { text: "new" },
    );
    const older = await open(server, { onExec: new MemoryWorkspace().answer });
    await older.ask("old", { model: "scripted", conversationId: "agent-z" });
    await older.until((message) => isUpdate(message, "textDelta"));
    const newer = await open(server, { onExec: new MemoryWorkspace().answer });
    await newer.ask("new", { model: "scripted", conversationId: "agent-z" });
    expect(await newer.ended).toEqual({ kind: "completed" });
    expect(await older.ended).toMatchObject({
      kind: "error",
      code: "canceled",
      message: expect.stringContaining("newer"),
    });
    expect((await vendor.clientClosed()).cutByClient).toBe(true);
  });
});

describe("ends", () => {
  test("a client of class sdk that closes its stream cancels: the vendor's connection is closed (R5, O3)", async () => {
    const { server, vendor } = await setUp([{ text: "and so on", hang: true }]);
    const session = await open(server, {
      onExec: new MemoryWorkspace().answer,
      headers: { "x-cursor-client-type": "sdk" },
    });
    await session.ask("go", { model: "scripted" });
    await session.until((message) => isUpdate(message, "textDelta"));
    session.close();
    expect((await vendor.clientClosed()).cutByClient).toBe(true);
    const again = await open(server, { requestId: session.requestId });
    expect(await again.ended).toMatchObject({ kind: "error", code: "canceled" });
    // What was shown is never taken back.
    expect(again.text.startsWith(session.text)).toBe(true);
  });

  test("a cancel action aborts what is open, closes its calls and keeps the partial text (O3, O7, I-31)", async () => {
    const { server } = await setUp([{ text: "partial", calls: [{ name: "Read", args: { path: "/project/a" } }] }]);
    const workspace = new MemoryWorkspace();
    const session = await open(server, {
      onExec: (message) => (message.message.case === "readArgs" ? undefined : workspace.answer(message)),
    });
    await session.ask("go", { model: "scripted" });
    const asked = await session.until(
      ({ message }) => message.case === "execServerMessage" && message.value.message.case === "readArgs",
    );
    await session.send({
      case: "conversationAction",
      value: { action: { case: "cancelAction", value: { reason: "enough" } } },
    });
    expect(await session.ended).toMatchObject({
      kind: "error",
      code: "canceled",
      message: expect.stringContaining("enough"),
    });
    const exec = asked.message.case === "execServerMessage" ? asked.message.value.id : 0;
    const abort = session.messages.find(({ message }) => message.case === "execServerControlMessage");
    expect(abort?.message.value).toMatchObject({ message: { case: "abort", value: { id: exec } } });
    expect(session.messages.filter((message) => isUpdate(message, "toolCallCompleted"))).toHaveLength(1);
    const last = checkpointsOf(session).at(-1);
    // system, user, the cut answer with its call, the result that says so
    expect(last?.rootPromptMessagesJson).toHaveLength(4);
  });

  test.each([
    [401, "unauthenticated", /API key/],
    [429, "resource_exhausted", /rate|quota/i],
    [500, "unavailable", /500/],
  ])(
    "the provider answers %i: told in the text, in the end and in its details (T8, I-150)",
    async (status, _code, words) => {
      const { server } = await setUp(() => ({ status, headers: { "retry-after-ms": "1" } }));
      const session = await open(server, { onExec: new MemoryWorkspace().answer });
      await session.ask("hi", { model: "scripted" });
      const end = await session.ended;
      expect(end).toMatchObject({ kind: "error", message: expect.stringMatching(words) });
      expect(session.text).toMatch(words);
      expect(end.kind === "error" && end.details[0]?.type).toBe("aiserver.v1.ErrorDetails");
      expect(JSON.stringify([session.text, end, server.log])).not.toContain("canary-key-0123456789");
    },
  );

  test("inputs of many kinds at once have their effects one at a time, each once (R2)", async () => {
    const { server, vendor } = await setUp([
      {
        calls: Array.from({ length: 20 }, (_, index) => ({
          name: "Read",
          args: { path: `/project/${index}` },
          id: `call_${index}`,
        })),
      },
      { text: "ok" },
    ]);
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [String(index), `file ${index}`]));
    const session = await open(server, { onExec: new MemoryWorkspace(files).answer });
    await session.ask("go", { model: "scripted" });
    expect(await session.ended).toEqual({ kind: "completed" });
    const results = messagesOf(vendor, 1).filter((message) => message.role === "tool");
    expect(results.map((message) => /file \d+/.exec(String(message.content))?.[0])).toEqual(
      Array.from({ length: 20 }, (_, index) => `file ${index}`),
    );
    const completed = session.messages.filter((message) => isUpdate(message, "toolCallCompleted"));
    expect(completed).toHaveLength(20);
  });
});

/** The message of a later turn, from the state the client keeps. */
function nextMessage(text: string, conversationId: string, state: ConversationStateStructure | undefined) {
  const message = userMessage(text, { conversationId, model: "scripted" });
  if (message.case !== "runRequest" || !state) throw new Error("no state to start from");
  const bytes = toBinary(ConversationStateStructureSchema, state);
  const conversationState = fromBinary(ConversationStateStructureSchema, bytes);
  return { ...message, value: { ...message.value, conversationState } } as typeof message;
}
