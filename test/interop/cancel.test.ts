import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { messagesOf, textOf } from "./support/prompts.js";
import { report, scenario } from "./support/scenario.js";

/** What is asked for: 200 ms from the server seeing it. Counted here from the call of `cancel`, and with a busy machine in mind. */
const vendorClosedWithinMs = 1_000;

scenario(
  "cancel ends the run within a second, closes the vendor's connection, and the agent is usable after it",
  { script: () => [{ text: "Let me think about", hang: true }, { text: "Here again." }, { text: "And again." }] },
  async (world, sdk) => {
    const agent = await sdk.createAgent(world.agentOptions());
    const run = await sdk.send(agent, "Think for long");
    await run.sees(({ type }) => type === "assistant");

    const { calledAt, returnedAt } = await sdk.cancel(run.id);
    const closed = await world.vendor.clientClosed();
    const ended = await run.ended();
    const closedAfterMs = (closed.closedAt ?? Number.NaN) - calledAt;
    report(world, "cancel() to the vendor's connection closed", closedAfterMs);
    report(world, "cancel() to wait() resolved", ended.at - calledAt);
    expect(ended.status).toBe("cancelled");
    expect(closedAfterMs).toBeGreaterThanOrEqual(0);
    expect(closedAfterMs).toBeLessThan(vendorClosedWithinMs);
    expect(ended.at - calledAt).toBeLessThan(1_000);
    expect(returnedAt - calledAt).toBeLessThan(1_000);

    const next = await sdk.complete(agent, "Are you there?");
    expect(await next.ended()).toMatchObject({ status: "finished", result: "Here again." });
    const last = await sdk.complete(agent, "Still?");
    expect(await last.ended()).toMatchObject({ status: "finished", result: "And again." });
    const spoken = messagesOf(world.vendor.requests[2]).map(textOf);
    expect(spoken.filter((text) => text.includes("Are you there?"))).toHaveLength(1);
    expect(spoken).toContain("Here again.");
  },
);

scenario(
  "cancel during a shell command stops the command, asks the model nothing more, and the agent is usable after it",
  {
    script: () => [
      { text: "First this.", calls: [{ id: "a1", name: "Write", args: { path: "kept.txt", contents: "kept\n" } }] },
      { calls: [{ id: "b1", name: "Shell", args: { command: "touch started; sleep 20 && touch survived" } }] },
      { text: "Back." },
    ],
  },
  async (world, sdk) => {
    const agent = await sdk.createAgent(world.agentOptions());
    const run = await sdk.send(agent, "Run it");
    await run.sees((message) => message.type === "tool_call" && message.name === "shell");
    await expect.poll(() => existsSync(join(world.workspace, "started")), { timeout: 10_000 }).toBe(true);
    // The checkpoint follows its step as fast as the client takes the blobs, beside the next pass.
    const kept = async () => JSON.stringify(await sdk.messages(agent, world.workspace));
    await expect.poll(kept, { timeout: 10_000 }).toContain("kept.txt");

    const { calledAt } = await sdk.cancel(run.id);
    const ended = await run.ended();
    report(world, "cancel() during a shell command to wait() resolved", ended.at - calledAt);
    expect(ended.status).toBe("cancelled");
    expect(ended.at - calledAt).toBeLessThan(1_000);

    const next = await sdk.complete(agent, "Go on");
    expect(await next.ended()).toMatchObject({ status: "finished", result: "Back." });
    expect(world.vendor.requests).toHaveLength(3);
    expect(existsSync(join(world.workspace, "survived"))).toBe(false);
    // What was done before the cancel was checkpointed and is remembered.
    const spoken = messagesOf(world.vendor.requests[2]);
    expect(spoken.some(({ tool_calls }) => tool_calls?.some((call) => call.function.name === "Write"))).toBe(true);
  },
);
