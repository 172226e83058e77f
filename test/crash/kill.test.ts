import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentServerMessage, ConversationStateStructure } from "@keyturn/protocol/agent";
import { encodeHex } from "@keyturn/protocol/codec";
import { afterEach, describe, expect, test } from "vitest";
import { isUpdate, Session, type SessionOptions } from "../support/driver.js";
import { type ServerProcess, startServerProcess, temporaryFolder } from "../support/server-process.js";
import type { VendorScript } from "../support/vendors/script.js";
import { startVendor, type Vendor } from "../support/vendors/start-vendor.js";
import { MemoryWorkspace } from "../support/workspace.js";

/**
 * The server is killed with SIGKILL in the middle of a turn and started again on the same data; its client comes back
 * to the same request id. Whatever the moment, the run finishes, and nothing is shown, run or lost twice.
 */

const cleanups: (() => PromiseLike<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

class Crashing {
  readonly workspace = new MemoryWorkspace({ "a.txt": "AAA" });
  readonly blobs = new Map<string, Uint8Array>();
  readonly folder: string;
  readonly vendor: Vendor;
  #server: ServerProcess;
  #sent = 0;

  private constructor(folder: string, vendor: Vendor, server: ServerProcess) {
    this.folder = folder;
    this.vendor = vendor;
    this.#server = server;
  }

  static async start(script: VendorScript): Promise<Crashing> {
    const folder = await temporaryFolder();
    cleanups.push(() => folder[Symbol.asyncDispose]());
    const vendor = await startVendor("openai-compatible", script);
    cleanups.push(() => vendor.close());
    const config = `
providers: { scripted: { type: openai-compatible, apiKey: k-0123456789, baseURL: "${vendor.baseURL}" } }
models: [{ id: scripted, provider: scripted }]
limits: { gapAfterTakeoverMs: 100 }`;
    await writeFile(join(folder.path, "keyturn.yaml"), config);
    const crashing = new Crashing(folder.path, vendor, await startServerProcess(folder.path));
    cleanups.push(() => crashing.#server.stop("SIGKILL"));
    return crashing;
  }

  /** Opens the run's stream; a session after a crash goes on with the numbers of the one before. */
  async open(requestId: string, more: Partial<SessionOptions> = {}): Promise<Session> {
    const { baseUrl, key } = this.#server;
    const options = { onExec: this.workspace.answer, blobs: this.blobs, firstNumber: this.#sent, ...more };
    const session = await Session.open({ baseUrl, bearer: key, requestId, ...options });
    const send = session.send.bind(session);
    session.send = async (message) => {
      this.#sent += 1;
      await send(message);
    };
    cleanups.push(() => session[Symbol.asyncDispose]());
    return session;
  }

  async killAndRestart(): Promise<void> {
    await this.#server.stop("SIGKILL");
    this.#server = await startServerProcess(this.folder);
  }
}

const isExec =
  (kind: string) =>
  ({ message }: AgentServerMessage) =>
    message.case === "execServerMessage" && message.value.message.case === kind;

/** The frames of a replay: all of those before but executions and blob requests, which may have their answer by now. */
const lasting = (session: Session) =>
  session.messages.flatMap(({ message }, index) =>
    message.case === "execServerMessage" || message.case === "kvServerMessage" || isHeartbeat(session.messages[index])
      ? []
      : [encodeHex(session.frames[index] ?? new Uint8Array())],
  );

const isHeartbeat = (message: AgentServerMessage | undefined) =>
  message !== undefined && isUpdate(message, "heartbeat");

const lastCheckpoint = (session: Session): ConversationStateStructure | undefined =>
  session.messages
    .flatMap(({ message }) => (message.case === "conversationCheckpointUpdate" ? message.value : []))
    .at(-1);

describe("kill -9", () => {
  test("while the client is asked for its context: asked again under the same id, then the turn", async () => {
    const crashing = await Crashing.start([{ text: "done" }]);
    const first = await crashing.open("run-1", { onExec: () => undefined });
    await first.ask("go", { model: "scripted", conversationId: "agent-1" });
    const asked = await first.until(isExec("requestContextArgs"));
    await crashing.killAndRestart();
    const second = await crashing.open("run-1");
    expect(await second.ended).toEqual({ kind: "completed" });
    expect(second.messages.find(isExec("requestContextArgs"))).toEqual(asked);
    expect(second.text).toBe("done");
    expect(crashing.vendor.requests).toHaveLength(1);
  });

  test("while the model writes: what was shown stays, the model goes on from there", async () => {
    const crashing = await Crashing.start((_request, index) =>
      index === 0 ? { text: "The first half", hang: true, deltaCount: 1 } : { text: " and the second." },
    );
    const first = await crashing.open("run-2");
    await first.ask("go", { model: "scripted", conversationId: "agent-2" });
    await first.until((message) => isUpdate(message, "textDelta"));
    await crashing.killAndRestart();
    const second = await crashing.open("run-2");
    expect(await second.ended).toEqual({ kind: "completed" });
    expect(lasting(second).slice(0, lasting(first).length)).toEqual(lasting(first));
    expect(second.text).toBe("The first half and the second.");
    const prompt = JSON.stringify(crashing.vendor.requests.at(-1)?.body.messages);
    expect(prompt).toContain("The first half");
    expect(crashing.vendor.requests).toHaveLength(2);
  });

  test("while an execution is open: the same execution under the same id, its result counts", async () => {
    const crashing = await Crashing.start([
      { calls: [{ name: "Read", args: { path: "/project/a.txt" } }] },
      { text: "It says AAA." },
    ]);
    const first = await crashing.open("run-3", {
      onExec: (message) => (message.message.case === "readArgs" ? undefined : crashing.workspace.answer(message)),
    });
    await first.ask("go", { model: "scripted", conversationId: "agent-3" });
    const asked = await first.until(isExec("readArgs"));
    await crashing.killAndRestart();
    const second = await crashing.open("run-3");
    expect(await second.ended).toEqual({ kind: "completed" });
    expect(second.messages.find(isExec("readArgs"))).toEqual(asked);
    // The context was answered before: it is not asked again.
    expect(second.messages.some(isExec("requestContextArgs"))).toBe(false);
    expect(crashing.workspace.asked.filter((kind) => kind === "readArgs")).toHaveLength(1);
    expect(JSON.stringify(crashing.vendor.requests.at(-1)?.body.messages)).toContain("AAA");
  });

  test("after a result was accepted: the execution is never asked again, and a resent result has no effect", async () => {
    const crashing = await Crashing.start((_request, index) => {
      if (index === 0) return { calls: [{ name: "Read", args: { path: "/project/a.txt" } }] };
      return index === 1 ? { text: "slow", hang: true } : { text: "It says AAA." };
    });
    const first = await crashing.open("run-4");
    await first.ask("go", { model: "scripted", conversationId: "agent-4" });
    await first.until((message) => isUpdate(message, "toolCallCompleted"));
    await first.until((message) => isUpdate(message, "textDelta"));
    await crashing.killAndRestart();
    const second = await crashing.open("run-4");
    expect(await second.ended).toEqual({ kind: "completed" });
    expect(second.messages.some(isExec("readArgs"))).toBe(false);
    expect(crashing.workspace.asked.filter((kind) => kind === "readArgs")).toHaveLength(1);
    expect(second.messages.filter((message) => isUpdate(message, "toolCallCompleted"))).toHaveLength(1);
  });

  test("while the last checkpoint waits for its blobs: it is published after all, and the run ends once", async () => {
    const crashing = await Crashing.start([{ text: "done" }]);
    const first = await crashing.open("run-5", { blobs: false });
    await first.ask("go", { model: "scripted", conversationId: "agent-5" });
    await first.until(({ message }) => message.case === "kvServerMessage");
    await crashing.killAndRestart();
    const second = await crashing.open("run-5");
    expect(await second.ended).toEqual({ kind: "completed" });
    expect(lastCheckpoint(second)?.turns).toHaveLength(1);
    expect(second.messages.filter((message) => isUpdate(message, "turnEnded"))).toHaveLength(1);
    expect(crashing.vendor.requests).toHaveLength(1);
  });

  test("after the end: the same backlog and the same end", async () => {
    const crashing = await Crashing.start([{ text: "done" }]);
    const first = await crashing.open("run-6");
    await first.ask("go", { model: "scripted", conversationId: "agent-6" });
    expect(await first.ended).toEqual({ kind: "completed" });
    await crashing.killAndRestart();
    const second = await crashing.open("run-6");
    expect(await second.ended).toEqual({ kind: "completed" });
    expect(lasting(second)).toEqual(lasting(first));
  });
});
