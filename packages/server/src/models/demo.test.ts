import { expect, test } from "vitest";
import { assistantMessage, collect, requestFor, textOf } from "../../../../test/support/vendors/gateway-fixture.js";
import type { HistoryMessage } from "../run/history.js";
import { createModelGateway } from "./gateway.js";
import type { ModelEvent } from "./port.js";

const gateway = createModelGateway({ providers: [], models: [], aliases: {} });
const never = new AbortController().signal;

const answers: Record<string, string> = {
  Ls: "/w/src/\n/w/package-lock.json\n/w/README.md\n/w/notes.txt",
  Read: "# Hello",
  Write: "Wrote /w/keyturn-demo.md",
  Shell: "-rw-r--r-- keyturn-demo.md",
};

/** Plays a whole turn; tools in `failing` give an error. */
async function play(tools: readonly string[], options: { failing?: string[]; workspace?: string; ls?: string } = {}) {
  const model = gateway.resolve("");
  if (!model) throw new Error("no demo model");
  const messages: HistoryMessage[] = [
    { role: "system", content: "You help." },
    { role: "user", content: [{ type: "text", text: `<info>\nWorkspace: ${options.workspace ?? "/w"}\n</info>` }] },
    { role: "user", content: [{ type: "text", text: "hi" }] },
  ];
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  let said = "";
  for (let pass = 0; pass < 10; pass++) {
    const request = requestFor(model, {
      messages,
      tools: tools.map((name) => ({ name, description: "", parameters: {} })),
    });
    const events: ModelEvent[] = await collect(gateway.stream(request, never));
    said += `${textOf(events)}\n`;
    const answer = assistantMessage(events, `p${pass}`);
    messages.push(answer);
    const [call] = answer.content.filter((part) => part.type === "tool-call");
    if (!call) return { calls, said, passes: pass + 1, last: events.at(-1) };
    calls.push({ name: call.toolName, args: call.args as Record<string, unknown> });
    const isError = options.failing?.includes(call.toolName) === true;
    const output = call.toolName === "Ls" ? (options.ls ?? answers["Ls"]) : answers[call.toolName];
    messages.push({
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: call.toolCallId, toolName: call.toolName, result: output ?? "", isError },
      ],
    });
  }
  throw new Error("the demo never ended");
}

test("shows a whole turn with four tools and says it is a script", async () => {
  const { calls, said, passes, last } = await play(["Ls", "Read", "Write", "Shell", "Grep"]);
  expect(calls.map((call) => call.name)).toEqual(["Ls", "Read", "Write", "Shell"]);
  expect(calls[0]?.args).toEqual({ path: "/w" });
  expect(calls[1]?.args).toEqual({ path: "/w/README.md" });
  expect(calls[2]?.args["path"]).toBe("/w/keyturn-demo.md");
  expect(calls[3]?.args["working_directory"]).toBe("/w");
  expect(passes).toBe(5);
  expect(said).toContain("not a model");
  expect(last).toMatchObject({ kind: "ended", reason: "stop", usage: { estimated: true } });
});

test("skips tools that are not offered and goes on after a failure", async () => {
  const { calls, said } = await play(["Ls", "Read", "Shell"], { failing: ["Read"] });
  expect(calls.map((call) => call.name)).toEqual(["Ls", "Read", "Shell"]);
  expect(said).toContain("Read failed");
  expect(said).toContain("Write is not offered");
  expect((await play([])).passes).toBe(1);
});

test("keeps the separators of the client's system and skips reading an empty folder", async () => {
  const { calls } = await play(["Ls", "Read", "Write", "Shell"], { workspace: "C:\\work dir", ls: "(empty)" });
  expect(calls.map((call) => call.name)).toEqual(["Ls", "Write", "Shell"]);
  expect(calls[1]?.args["path"]).toBe("C:\\work dir\\keyturn-demo.md");
});

test("a new user message starts the script again", async () => {
  const model = gateway.resolve("demo");
  if (!model) throw new Error("no demo model");
  const messages: HistoryMessage[] = [
    { role: "user", content: [{ type: "text", text: "Workspace: /w" }] },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "Shell", args: {} }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "a", toolName: "Shell", result: "" }] },
    { role: "user", content: [{ type: "text", text: "again" }] },
  ];
  const events = await collect(
    gateway.stream(requestFor(model, { messages, tools: [{ name: "Ls", description: "", parameters: {} }] }), never),
  );
  expect(events.find((event) => event.kind === "call")).toMatchObject({ name: "Ls", args: '{"path":"/w"}' });
});

test("an abort ends it with the reason", async () => {
  const model = gateway.resolve("demo");
  if (!model) throw new Error("no demo model");
  const abort = new AbortController();
  abort.abort(new Error("stop"));
  await expect(collect(gateway.stream(requestFor(model), abort.signal))).rejects.toThrow("stop");
});
