import { expect, test } from "vitest";
import { defaultModelsFor, lookUpModel } from "./catalog.js";
import { effortParameters, requestedEffort } from "./effort.js";
import { createModelGateway } from "./gateway.js";

const config = {
  providers: [
    { name: "openai", type: "openai" as const, apiKey: "k" },
    { name: "local", type: "openai-compatible" as const, baseURL: "http://127.0.0.1:11434/v1" },
  ],
  models: [
    { id: "gpt-5", provider: "openai" },
    { id: "qwen", provider: "local", model: "qwen3:32b", displayName: "Qwen" },
    { id: "lost", provider: "nowhere" },
  ],
  aliases: { fast: "qwen", "composer-*": "gpt-5", "composer-small-*": "qwen" },
};

test("lists configured models and the demo model last", () => {
  const gateway = createModelGateway(config);
  expect(gateway.models().map((model) => model.id)).toEqual(["gpt-5", "qwen", "demo"]);
  expect(gateway.models()[0]).toMatchObject({
    displayName: "GPT-5",
    contextWindow: 400_000,
    maxOutputTokens: 128_000,
    vision: true,
    aliases: ["composer-*"],
  });
  expect(gateway.models()[1]).toMatchObject({
    model: "qwen3:32b",
    contextWindow: 32_768,
    vision: false,
    parameters: [],
  });
});

test.each([
  ["gpt-5", "gpt-5"],
  ["fast", "qwen"],
  ["composer-2", "gpt-5"],
  ["composer-small-2", "qwen"],
  ["", "gpt-5"],
  ["auto", "gpt-5"],
  ["default", "gpt-5"],
  ["demo", "demo"],
  ["unheard-of", undefined],
  ["constructor", undefined],
])("resolves %j to %s", (name, id) => {
  expect(createModelGateway(config).resolve(name)?.id).toBe(id);
});

test("the default alias decides; without any model the demo model is the default", () => {
  expect(createModelGateway({ ...config, aliases: { default: "qwen" } }).resolve("auto")?.id).toBe("qwen");
  expect(createModelGateway({ providers: [], models: [], aliases: {} }).resolve("")?.id).toBe("demo");
});

test("the catalogue: exact, dated and unknown models", () => {
  expect(lookUpModel("openai", "gpt-5-2025-08-07")?.name).toBe("GPT-5");
  expect(lookUpModel("openai", "gpt-5.99")).toBeUndefined();
  expect(lookUpModel("anthropic", "claude-opus-5-5-20991231")?.adaptive).toBe(true);
  expect(lookUpModel("openai-compatible", "deepseek-v4-pro", "https://api.deepseek.com/v1")?.context).toBe(1_000_000);
  expect(lookUpModel("openai-compatible", "openai/gpt-5", "http://127.0.0.1:4000")?.name).toBe("GPT-5");
  expect(lookUpModel("openai-compatible", "gpt-5-tiny:q4", "http://127.0.0.1:4000")).toBeUndefined();
});

test("default models exist in the catalogue", () => {
  for (const type of ["openai", "anthropic", "google"] as const) {
    const models = defaultModelsFor(type);
    expect(models.length).toBeGreaterThan(1);
    for (const model of models) expect(lookUpModel(type, model.id)?.name, model.id).toBeDefined();
  }
  expect(defaultModelsFor("openai-compatible")).toEqual([]);
});

test("efforts: names, values and the nearest one the model takes", () => {
  const efforts = ["low", "medium", "high"] as const;
  expect(effortParameters(efforts)[0]?.values.map((value) => value.value)).toEqual(["low", "medium", "high"]);
  expect(effortParameters(undefined)).toEqual([]);
  for (const id of [
    "effort",
    "thinking_effort",
    "reasoning",
    "reasoning_effort",
    "thinking_intensity",
    "thinkingEffort",
  ]) {
    expect(requestedEffort({ [id]: "HIGH" }, efforts)).toBe("high");
  }
  expect(requestedEffort({ effort: "max" }, efforts)).toBe("high");
  expect(requestedEffort({ effort: "off" }, efforts)).toBe("low");
  expect(requestedEffort({ effort: "x-high" }, ["high", "xhigh"])).toBe("xhigh");
  expect(requestedEffort({ effort: "silly", colour: "high" }, efforts)).toBeUndefined();
  expect(requestedEffort({ effort: "high" }, undefined)).toBeUndefined();
});
