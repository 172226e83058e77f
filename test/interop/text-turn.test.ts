import { expect } from "vitest";
import type { VendorType } from "../support/vendors/script.js";
import { messagesOf, textOf } from "./support/prompts.js";
import { scenario } from "./support/scenario.js";
import { SdkCallFailed } from "./support/sdk-process.js";
import { modelId } from "./support/world.js";

scenario("models and account are listed", { script: () => [] }, async (world, sdk) => {
  const models = await sdk.listModels();
  expect(models).toContainEqual(expect.objectContaining({ id: modelId, displayName: expect.any(String) }));
  expect((await sdk.me()).apiKeyName).toEqual(expect.any(String));
  expect(world.vendor.requests).toEqual([]);
});

scenario("an unknown model is refused at create", { script: () => [] }, async (world, sdk) => {
  const refused = sdk.createAgent(world.agentOptions({ model: { id: "no-such-model" } }));
  await expect(refused).rejects.toThrow(SdkCallFailed);
  await expect(refused).rejects.toThrow(/ConfigurationError.*no-such-model/s);
  expect(world.vendor.requests).toEqual([]);
});

scenario(
  "a text turn streams thinking and text and ends with both in their places",
  {
    script: () => [
      { thinking: "The user greets me.", text: "Hello, Wörld 👋!", usage: { input: 120, output: 9, cacheRead: 20 } },
    ],
  },
  async (world, sdk) => {
    const agent = await sdk.createAgent(world.agentOptions());
    const run = await sdk.complete(agent, "Say hello");

    expect(await run.ended()).toMatchObject({ status: "finished", result: "Hello, Wörld 👋!" });
    expect(run.text()).toBe("Hello, Wörld 👋!");
    const deltas = run.messages().filter(({ type }) => type === "assistant");
    expect(deltas.length).toBeGreaterThan(0);
    const thinking = run.messages().filter((message) => message.type === "thinking");
    expect(thinking.map(({ text }) => text).join("")).toBe("The user greets me.");
    expect(thinking.at(-1)?.thinking_duration_ms).toBeGreaterThanOrEqual(0);

    const ends = sdk.of("delta").filter(({ update }) => update.type === "turn-ended");
    expect(ends.map(({ update }) => update["usage"])).toEqual([
      expect.objectContaining({ outputTokens: 9, cacheReadTokens: 20 }),
    ]);
    const conversation = JSON.stringify(await sdk.conversation(run.id));
    expect(conversation).toContain("Say hello");
    expect(conversation).toContain("Hello, Wörld 👋!");

    expect(world.vendor.requests).toHaveLength(1);
    const messages = messagesOf(world.vendor.requests[0]);
    expect(messages[0]?.role).toBe("system");
    expect(textOf(messages[0])).toContain(world.workspace);
    expect(textOf(messages.at(-1))).toContain("Say hello");
  },
);

const otherVendors: readonly VendorType[] = ["anthropic", "google", "openai"];
for (const vendorType of otherVendors) {
  scenario(
    `a text turn on the ${vendorType} protocol`,
    { vendorType, script: () => [{ text: `Greetings by ${vendorType}.`, usage: { input: 50, output: 5 } }] },
    async (world, sdk) => {
      const run = await sdk.complete(await sdk.createAgent(world.agentOptions()), "Say hello");
      expect(await run.ended()).toMatchObject({ status: "finished", result: `Greetings by ${vendorType}.` });
      expect(run.text()).toBe(`Greetings by ${vendorType}.`);
      expect(world.vendor.requests).toHaveLength(1);
    },
  );
}
