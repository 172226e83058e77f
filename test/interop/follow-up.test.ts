import { expect } from "vitest";
import { messagesOf, textOf, toolNamesOf } from "./support/prompts.js";
import { scenario } from "./support/scenario.js";

scenario(
  "a second send and a resume in a new process start from the checkpoint, and messages.list shows the turns",
  {
    files: { "fact.txt": "the answer is 42\n" },
    script: () => [
      { thinking: "Look it up.", text: "One moment.", calls: [{ id: "a1", name: "Read", args: { path: "fact.txt" } }] },
      { text: "It is 42." },
      { text: "Still 42." },
      { text: "Always 42." },
    ],
  },
  async (world, sdk) => {
    const agent = await sdk.createAgent(world.agentOptions());
    const first = await sdk.complete(agent, "What is the answer?");
    expect(await first.ended()).toMatchObject({ status: "finished", result: "It is 42." });
    const second = await sdk.complete(agent, "Are you sure?");
    expect(await second.ended()).toMatchObject({ status: "finished", result: "Still 42." });
    await sdk.close();

    const later = await world.startSdk();
    await later.resumeAgent(agent, world.agentOptions());
    const third = await later.complete(agent, "And tomorrow?");
    expect(await third.ended()).toMatchObject({ status: "finished", result: "Always 42." });

    const { requests } = world.vendor;
    expect(requests).toHaveLength(4);
    // Byte for byte: that is what a vendor's prompt cache goes by.
    const prompts = requests.map((request) => JSON.stringify(messagesOf(request)));
    for (const [index, prompt] of prompts.entries()) {
      const next = prompts[index + 1];
      if (next !== undefined) expect(next.startsWith(`${prompt.slice(0, -1)},`)).toBe(true);
    }
    expect(requests.map((request) => JSON.stringify(request.body["tools"]))).toEqual(
      requests.map(() => JSON.stringify(requests[0]?.body["tools"])),
    );
    const spoken = messagesOf(requests[3]).map((message) => `${message.role}: ${textOf(message)}`);
    expect(spoken.filter((line) => line.startsWith("user") && line.includes("Are you sure?"))).toHaveLength(1);
    expect(spoken.filter((line) => line.startsWith("assistant") && line.includes("It is 42."))).toHaveLength(1);
    expect(spoken.filter((line) => line.startsWith("tool") && line.includes("the answer is 42"))).toHaveLength(1);

    const listed = await later.messages(agent, world.workspace);
    expect(listed).toHaveLength(3);
    const turns = listed.map(({ message }) => JSON.stringify(message));
    for (const [index, texts] of [
      ["What is the answer?", "It is 42.", "fact.txt"],
      ["Are you sure?", "Still 42."],
      ["And tomorrow?", "Always 42."],
    ].entries()) {
      for (const text of texts) expect(turns[index]).toContain(text);
    }
  },
);

scenario(
  "all setting sources in a git workspace work without an unhandled rejection and reach the prompt",
  {
    git: true,
    files: {
      "AGENTS.md": "Always answer in limericks.\n",
      ".cursor/rules/style.mdc": "---\nalwaysApply: true\n---\nNever use tabs.\n",
      "a.txt": "a\n",
    },
    script: () => [{ text: "There once was." }, { text: "Once more." }],
  },
  async (world, sdk) => {
    const agent = await sdk.createAgent(world.agentOptions({ settingSources: ["all"] }));
    const run = await sdk.complete(agent, "Begin");
    expect(await run.ended()).toMatchObject({ status: "finished", result: "There once was." });
    const again = await sdk.complete(agent, "Again");
    expect(await again.ended()).toMatchObject({ status: "finished", result: "Once more." });

    const prompt = JSON.stringify(messagesOf(world.vendor.requests[0]));
    expect(prompt).toContain("Always answer in limericks.");
    expect(prompt).toContain("Never use tabs.");
    expect(prompt).toContain("main");
    expect(toolNamesOf(world.vendor.requests[0])).toContain("Shell");
    expect(sdk.faults()).toEqual([]);
  },
);

scenario(
  "the demo model shows a whole turn with nothing configured",
  { files: { "readme.txt": "welcome\n" } },
  async (world, sdk) => {
    const models = await sdk.listModels();
    expect(models.map(({ id }) => id)).toEqual(["demo"]);
    expect(models[0]?.displayName).toMatch(/demo/i);
    const agent = await sdk.createAgent(world.agentOptions({ model: { id: "demo" } }));
    const run = await sdk.complete(agent, "Show me");

    const { status, result } = await run.ended();
    expect(status).toBe("finished");
    expect(result).not.toBe("");
    expect(run.toolCalls("completed").map(({ name }) => name)).toEqual(["ls", "read", "edit", "shell"]);
    for (const call of run.toolCalls("completed")) expect(call.result).toMatchObject({ status: "success" });
    expect(await world.read("keyturn-demo.md")).toContain("demo");
    expect(run.text()).toMatch(/not a model/i);
  },
);
