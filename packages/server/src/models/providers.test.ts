import { describe, expect, test } from "vitest";
import {
  collect,
  collectAll,
  gatewayFor,
  requestFor,
  textOf,
} from "../../../../test/support/vendors/gateway-fixture.js";
import type { JsonObject } from "../../../../test/support/vendors/script.js";
import { startVendor } from "../../../../test/support/vendors/start-vendor.js";
import { FaultError } from "../run/faults.js";
import type { ProviderType } from "./port.js";

const never = new AbortController().signal;

async function bodyFor(type: ProviderType, model: string, parameters: Record<string, string>): Promise<JsonObject> {
  await using vendor = await startVendor(type, [{ text: "ok" }]);
  const { gateway, model: info } = gatewayFor(type, vendor.baseURL, { model });
  await collect(gateway.stream(requestFor(info, { parameters }), never));
  return vendor.requests[0]?.body ?? {};
}

describe("effort on the wire", () => {
  test.each<[ProviderType, string, Record<string, string>, object]>([
    [
      "openai",
      "gpt-5.2",
      { effort: "high" },
      { reasoning: { effort: "high", summary: "auto" }, store: false, include: ["reasoning.encrypted_content"] },
    ],
    ["openai", "gpt-5.2", { reasoning: "off" }, { reasoning: { effort: "none" } }],
    [
      "anthropic",
      "claude-opus-4-6",
      { effort: "max" },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "max" } },
    ],
    [
      "anthropic",
      "claude-opus-4-5",
      { thinking_effort: "low" },
      { thinking: { type: "enabled", budget_tokens: 4_096 }, max_tokens: 64_000 },
    ],
    [
      "google",
      "gemini-3.5-flash",
      { thinking_intensity: "low" },
      { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: "low" } } },
    ],
    [
      "google",
      "gemini-2.5-flash",
      { reasoning_effort: "none" },
      { generationConfig: { thinkingConfig: { includeThoughts: false, thinkingBudget: 0 } } },
    ],
  ])("%s %s %j", async (type, model, parameters, expected) => {
    expect(await bodyFor(type, model, parameters)).toMatchObject(expected);
  });

  test("models without reasoning get nothing of it", async () => {
    expect(await bodyFor("openai", "gpt-4.1", { effort: "high" })).not.toHaveProperty("reasoning");
    expect(await bodyFor("openai-compatible", "local-model", { effort: "high" })).not.toHaveProperty(
      "reasoning_effort",
    );
  });
});

test("tools reach OpenAI without strict mode, the conversation as cache key", async () => {
  const body = await bodyFor("openai", "gpt-5.2", {});
  expect(body["tools"]).toMatchObject([{ type: "function", name: "Read", strict: false }]);
  expect(body["prompt_cache_key"]).toBe("conversation-1");
});

test("Anthropic gets cache marks at the system prompt and the last turn", async () => {
  const body = await bodyFor("anthropic", "claude-opus-4-6", {});
  expect(body["system"]).toMatchObject([{ cache_control: { type: "ephemeral" } }]);
  expect(JSON.stringify(body["messages"])).toContain("cache_control");
});

describe("chat servers' oddities", () => {
  const chat = async (frames: string[], config: object = {}) => {
    await using vendor = await startVendor("openai-compatible", () => ({ body: frames }));
    const { gateway, model } = gatewayFor("openai-compatible", vendor.baseURL, {
      config,
      options: { retry: { tries: 1 } },
    });
    return await collectAll(gateway.stream(requestFor(model), never));
  };
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const calls = (...list: object[]) => chunk({ tool_calls: list });

  test("parallel calls all with index 0, finish reason stop (I-95, I-100)", async () => {
    const one = (id: string, path: string) =>
      calls({ index: 0, id, function: { name: "Read", arguments: JSON.stringify({ path }) } });
    const { events } = await chat([
      one("call_1", "a"),
      one("call_2", "b"),
      one("call_3", "c"),
      chunk({}, "stop"),
      "data: [DONE]\n\n",
    ]);
    expect(events.flatMap((event) => (event.kind === "call" ? [event.args] : []))).toEqual([
      '{"path":"a"}',
      '{"path":"b"}',
      '{"path":"c"}',
    ]);
    expect(events.at(-1)).toMatchObject({ reason: "tool-calls", usage: { estimated: true } });
  });

  test.each(["", "null", undefined, null, '""'])("arguments %j are no arguments (I-97)", async (args) => {
    const { events } = await chat([
      calls({ index: 0, id: "x", function: { name: "Ls", arguments: args } }),
      chunk({}, "tool_calls"),
    ]);
    expect(events.find((event) => event.kind === "call")).toMatchObject({ name: "Ls", args: "{}", complete: true });
  });

  test("broken arguments stay as they are (I-98)", async () => {
    const { events } = await chat([
      calls({ index: 0, id: "x", function: { name: "Write", arguments: '{"path":"a.ts","content":"x' } }),
      chunk({}, "tool_calls"),
    ]);
    expect(events.find((event) => event.kind === "call")).toMatchObject({ args: '{"path":"a.ts","content":"x' });
  });

  test("a call at the output limit is not complete, even if it parses (I-99)", async () => {
    const { events } = await chat([
      calls({ index: 0, id: "x", function: { name: "Write", arguments: '{"path":"a"}' } }),
      chunk({}, "length"),
    ]);
    expect(events.find((event) => event.kind === "call")).toMatchObject({ args: '{"path":"a"}', complete: false });
    expect(events.at(-1)).toMatchObject({ reason: "length" });
  });

  test("think tags only where they are asked for (I-89)", async () => {
    const frames = [chunk({ content: "<th" }), chunk({ content: "ink>plan</think>\n\nanswer" }), chunk({}, "stop")];
    const split = await chat(frames, { reasoning: { tags: "think" } });
    expect([textOf(split.events, "reasoning-delta"), textOf(split.events)]).toEqual(["plan", "answer"]);
    expect(split.events.map((event) => event.kind)).toEqual([
      "reasoning-delta",
      "reasoning-ended",
      "text-delta",
      "text-ended",
      "ended",
    ]);
    expect(textOf((await chat(frames)).events)).toBe("<think>plan</think>\n\nanswer");
  });

  test("an answer of nothing is named, not silent (I-101)", async () => {
    const { error } = await chat([chunk({ content: "" }, "stop"), "data: [DONE]\n\n"]);
    expect(FaultError.is(error) && error.fault.code).toBe("model/empty");
  });

  test("a refused stream_options is left out from then on (I-88)", async () => {
    await using vendor = await startVendor("openai-compatible", ({ body }) =>
      body["stream_options"]
        ? { status: 400, error: { message: "Unrecognized request argument supplied: stream_options" } }
        : { text: "ok" },
    );
    const { gateway, model } = gatewayFor("openai-compatible", vendor.baseURL);
    for (let turn = 0; turn < 2; turn++)
      expect(textOf(await collect(gateway.stream(requestFor(model), never)))).toBe("ok");
    expect(vendor.requests.map((request) => "stream_options" in request.body)).toEqual([true, false, false]);
  });
});

test("redacted thinking is kept without a word of text (I-111)", async () => {
  const frames = [
    { type: "message_start", message: { id: "m", model: "claude", usage: { input_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "redacted_thinking", data: "opaque" } },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "hi" } },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ].map((value) => `data: ${JSON.stringify(value)}\n\n`);
  await using vendor = await startVendor("anthropic", [{ body: frames }]);
  const { gateway, model } = gatewayFor("anthropic", vendor.baseURL, { model: "claude-opus-4-6" });
  const events = await collect(gateway.stream(requestFor(model), never));
  expect(events[0]).toEqual({
    kind: "reasoning-ended",
    provider: { provider: "vendor", model: "claude-opus-4-6", data: { anthropic: { redactedData: "opaque" } } },
  });
});

test("a provider without a key or a base URL fails with words, without a request", async () => {
  for (const type of ["openai", "anthropic", "google", "openai-compatible"] as const) {
    const { gateway, model } = gatewayFor(type, "", {
      models: { providers: [{ name: "vendor", type, baseURL: undefined, apiKey: undefined }] },
    });
    const { error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(FaultError.is(error) && error.fault.code).toBe(
      type === "openai-compatible" ? "model/bad-request" : "model/auth",
    );
  }
});

test("a redirect is not followed: the key stays with the configured host", async () => {
  await using other = await startVendor("anthropic", () => ({ text: "stolen" }));
  await using vendor = await startVendor("anthropic", () => ({
    status: 307,
    headers: { location: `${other.baseURL}/messages` },
  }));
  const { gateway, model } = gatewayFor("anthropic", vendor.baseURL, { model: "claude-opus-4-6" });
  const { error } = await collectAll(gateway.stream(requestFor(model), never));
  expect(FaultError.is(error) && error.fault).toMatchObject({ code: "model/bad-request", status: 307 });
  expect(String(error)).toContain("redirect");
  expect(other.requests).toHaveLength(0);
});
