import { expect } from "vitest";
import { report, scenario } from "./support/scenario.js";

/** Shorter for a quick look; the promise is about the defaults. */
const silenceMs = Number(process.env["KEYTURN_INTEROP_SILENCE_SECONDS"] ?? 90) * 1_000;
const toolSeconds = Number(process.env["KEYTURN_INTEROP_TOOL_SECONDS"] ?? 60);

scenario(
  `a run stays alive while its vendor is silent for ${silenceMs / 1_000} s`,
  { concurrent: true, timeoutMs: silenceMs + 60_000, script: () => [{ delayMs: silenceMs, text: "At last." }] },
  async (world, sdk) => {
    const startedAt = Date.now();
    const run = await sdk.complete(await sdk.createAgent(world.agentOptions()), "Take your time");
    const ended = await run.ended();
    expect(ended).toMatchObject({ status: "finished", result: "At last." });
    report(world, "a run with a silent vendor", ended.at - startedAt);
    expect(ended.at - startedAt).toBeGreaterThanOrEqual(silenceMs);
    expect(world.vendor.requests).toHaveLength(1);
  },
);

scenario(
  `a run stays alive while its tool takes ${toolSeconds} s`,
  {
    concurrent: true,
    timeoutMs: toolSeconds * 1_000 + 60_000,
    script: () => [
      {
        calls: [
          {
            id: "a1",
            name: "Shell",
            args: { command: `sleep ${toolSeconds}; echo awake`, timeout_ms: toolSeconds * 1_000 + 30_000 },
          },
        ],
      },
      { text: "Good morning." },
    ],
  },
  async (world, sdk) => {
    const startedAt = Date.now();
    const run = await sdk.complete(await sdk.createAgent(world.agentOptions()), "Sleep");
    const ended = await run.ended();
    expect(ended).toMatchObject({ status: "finished", result: "Good morning." });
    report(world, "a run with a slow tool", ended.at - startedAt);
    expect(ended.at - startedAt).toBeGreaterThanOrEqual(toolSeconds * 1_000);
    expect(JSON.stringify(run.toolCalls("completed"))).toContain("awake");
  },
);
