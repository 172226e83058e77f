import { describe, expect, test } from "vitest";
import {
  assistantMessage,
  canaryKey,
  collect,
  collectAll,
  gatewayFor,
  requestFor,
  textOf,
  vendorCases,
} from "../../../../test/support/vendors/gateway-fixture.js";
import { startVendor } from "../../../../test/support/vendors/start-vendor.js";
import { type Fault, FaultError } from "../run/faults.js";
import type { HistoryMessage } from "../run/history.js";
import type { ModelEvent } from "./port.js";

const never = new AbortController().signal;

function faultOf(error: unknown): Fault {
  if (!FaultError.is(error)) throw error instanceof Error ? error : new Error(`Not a fault: ${String(error)}`);
  return error.fault;
}

function kinds(events: readonly ModelEvent[]): string[] {
  return events.map((event) => event.kind).filter((kind, index, all) => kind !== all[index - 1]);
}

/** Neighbouring deltas as one: how many there are depends on how the bytes arrive. */
function joined(events: readonly ModelEvent[]): ModelEvent[] {
  const found: ModelEvent[] = [];
  for (const event of events) {
    const last = found.at(-1);
    const text = last?.kind === event.kind && "text" in last && "text" in event ? last.text + event.text : undefined;
    const isArgs = last?.kind === "call-delta" && event.kind === "call-delta" && last.index === event.index;
    if (text !== undefined) found[found.length - 1] = { ...event, text } as ModelEvent;
    else if (isArgs) found[found.length - 1] = { ...event, argsDelta: last.argsDelta + event.argsDelta };
    else found.push(event);
  }
  return found;
}

describe.each(vendorCases)("$type", ({ type, model: modelId }) => {
  const open = (baseURL: string, more: Parameters<typeof gatewayFor>[2] = {}) =>
    gatewayFor(type, baseURL, { model: modelId, ...more });

  test("streams thinking, text and parallel calls, and counts the usage", async () => {
    await using vendor = await startVendor(type, [
      {
        thinking: "I think about it.",
        text: "Let me look.",
        calls: [
          { name: "Read", args: { path: "a.md" } },
          { name: "Read", args: { path: "b.md" } },
        ],
        usage: { input: 100, output: 20, reasoning: 5 },
      },
    ]);
    const { gateway, model } = open(vendor.baseURL);
    const events = await collect(gateway.stream(requestFor(model), never));
    expect(textOf(events, "reasoning-delta")).toBe("I think about it.");
    expect(textOf(events)).toBe("Let me look.");
    expect(events.filter((event) => event.kind === "call").map(({ provider: _provider, ...call }) => call)).toEqual([
      { kind: "call", index: 0, name: "Read", args: '{"path":"a.md"}', complete: true },
      { kind: "call", index: 1, name: "Read", args: '{"path":"b.md"}', complete: true },
    ]);
    expect(kinds(events).slice(0, 4)).toEqual(["reasoning-delta", "reasoning-ended", "text-delta", "text-ended"]);
    const ended = events.at(-1);
    expect(ended).toMatchObject({ kind: "ended", reason: "tool-calls", usage: { inputTokens: 100, outputTokens: 20 } });
    expect(ended).not.toMatchObject({ usage: { estimated: true } });
  });

  test("gives the same events at any chunk size, with characters split between chunks", async () => {
    const answer = { thinking: "想 🧠", text: "你好🌍 naïve", calls: [{ name: "Read", args: { path: "ö/é.md" } }] };
    await using vendor = await startVendor(type, [answer, { ...answer, chunkBytes: 1 }, { ...answer, chunkBytes: 7 }]);
    const { gateway, model } = open(vendor.baseURL);
    const events = async () => joined(await collect(gateway.stream(requestFor(model), never)));
    const whole = await events();
    expect(await events()).toEqual(whole);
    expect(await events()).toEqual(whole);
    expect(textOf(whole)).toBe("你好🌍 naïve");
  });

  test("an abort closes the vendor's connection and throws the reason", async () => {
    await using vendor = await startVendor(type, [{ text: "begin", hang: true }]);
    const { gateway, model } = open(vendor.baseURL);
    const abort = new AbortController();
    const reason = new Error("the user stopped");
    const read = (async () => {
      for await (const event of gateway.stream(requestFor(model), abort.signal))
        if (event.kind === "text-delta") abort.abort(reason);
    })();
    await expect(read).rejects.toBe(reason);
    expect((await vendor.clientClosed()).cutByClient).toBe(true);
  });

  test("an abort before the answer begins closes the connection as well", async () => {
    const abort = new AbortController();
    await using vendor = await startVendor(type, () => {
      queueMicrotask(() => abort.abort(new Error("stop")));
      return { text: "never", holdUntil: new Promise(() => undefined), delayMs: 60_000 };
    });
    const { gateway, model } = open(vendor.baseURL);
    await expect(collect(gateway.stream(requestFor(model), abort.signal))).rejects.toThrow("stop");
    expect((await vendor.clientClosed()).cutByClient).toBe(true);
  });

  test("a consumer that stops reading closes the connection", async () => {
    await using vendor = await startVendor(type, [{ text: "begin", hang: true }]);
    const { gateway, model } = open(vendor.baseURL);
    for await (const event of gateway.stream(requestFor(model), never)) if (event.kind === "text-delta") break;
    expect((await vendor.clientClosed()).cutByClient).toBe(true);
  });

  test("waits as long as a 429 asks and then goes on (I-115)", async () => {
    const busy = {
      status: 429,
      headers: { "retry-after": "3" },
      error: { type: "rate_limit_error", message: "slow down" },
    };
    await using vendor = await startVendor(type, [busy, busy, { text: "ok" }]);
    const { gateway, model, sleeps } = open(vendor.baseURL);
    const events = await collect(gateway.stream(requestFor(model), never));
    expect(sleeps).toEqual([3_000, 3_000]);
    expect(events[0]).toMatchObject({ kind: "waiting", delayMs: 3_000 });
    expect(textOf(events)).toBe("ok");
  });

  test.each([
    [401, "authentication_error", "bad key", "model/auth"],
    [403, "permission_error", "not yours", "model/auth"],
    [404, "not_found_error", "no such model", "model/bad-request"],
    [400, "invalid_request_error", "nonsense", "model/bad-request"],
    [400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum", "model/context-overflow"],
    [
      429,
      "insufficient_quota",
      "You exceeded your current quota, please check your plan and billing details.",
      "model/quota",
    ],
  ])("HTTP %i %s is final: one request (I-117)", async (status, errorType, message, code) => {
    await using vendor = await startVendor(type, () => ({ status, error: { type: errorType, message } }));
    const { gateway, model } = open(vendor.baseURL);
    const { events, error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(faultOf(error)).toMatchObject({ code, status, provider: "vendor" });
    expect(faultOf(error).detail).toContain(message);
    expect(events).toEqual([]);
    expect(vendor.requests).toHaveLength(1);
  });

  test("never shows the key (I-143)", async () => {
    const leaks = `key ${canaryKey}, ${encodeURIComponent(canaryKey)}, ${Buffer.from(canaryKey).toString("base64")}, https://x.test/v1?key=abc123`;
    for (const status of [400, 401, 500]) {
      await using vendor = await startVendor(type, () => ({ status, error: { type: "api_error", message: leaks } }));
      const { gateway, model } = open(vendor.baseURL);
      const { events, error } = await collectAll(gateway.stream(requestFor(model), never));
      const shown = JSON.stringify([events, faultOf(error)]) + String(error);
      for (const form of [
        canaryKey,
        encodeURIComponent(canaryKey),
        Buffer.from(canaryKey).toString("base64"),
        "abc123",
      ])
        expect(shown).not.toContain(form);
      expect(JSON.stringify(vendor.requests.map((request) => request.url))).not.toContain("canary");
    }
  });

  test("a cut socket after output fails without a second request and without any call (I-84, I-118)", async () => {
    await using vendor = await startVendor(type, [{ text: "half", ending: "cut" }]);
    const { gateway, model } = open(vendor.baseURL);
    const { events, error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(faultOf(error).code).toBe("model/truncated");
    expect(textOf(events)).toBe("half");
    expect(vendor.requests).toHaveLength(1);
  });

  test("an end without an end mark is a truncated answer, its last call is never given out (I-84)", async () => {
    await using vendor = await startVendor(type, [
      { text: "half", calls: [{ name: "Read", args: { path: "a" } }], ending: "eof" },
    ]);
    const { gateway, model } = open(vendor.baseURL);
    const { events, error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(faultOf(error).code).toBe("model/truncated");
    expect(events.filter((event) => event.kind === "call" || event.kind === "ended")).toEqual([]);
  });

  test("at the output limit the last call is not complete, the one before it is (I-99)", async () => {
    const finish = {
      openai: "max_output_tokens",
      anthropic: "max_tokens",
      google: "MAX_TOKENS",
      "openai-compatible": "length",
    }[type];
    const calls = [
      { name: "Read", args: { path: "a" } },
      { name: "Read", args: { path: "b" } },
    ];
    await using vendor = await startVendor(type, [{ calls, finish }]);
    const { gateway, model } = open(vendor.baseURL);
    const events = await collect(gateway.stream(requestFor(model), never));
    expect(events.flatMap((event) => (event.kind === "call" ? [event.complete] : []))).toEqual([true, false]);
    expect(events.at(-1)).toMatchObject({ kind: "ended", reason: "length" });
  });

  test("an empty 200 is tried again, a few times (I-85)", async () => {
    const empty = { body: [] };
    await using vendor = await startVendor(type, [empty, empty, { text: "good" }]);
    const { gateway, model, sleeps } = open(vendor.baseURL);
    expect(textOf(await collect(gateway.stream(requestFor(model), never)))).toBe("good");
    expect(sleeps).toHaveLength(2);

    await using dead = await startVendor(type, () => empty);
    const broken = open(dead.baseURL);
    const { error } = await collectAll(broken.gateway.stream(requestFor(broken.model), never));
    expect(faultOf(error).code).toBe("model/truncated");
    expect(dead.requests).toHaveLength(3);
  });

  test("an error inside a 200 is the provider's error: retried before output, final after it (I-83)", async () => {
    const inside =
      'data: {"type":"error","error":{"code":502,"type":"overloaded_error","message":"Worker limit reached (33/32)"}}\n\n';
    await using vendor = await startVendor(type, [{ body: [inside] }, { text: "ok" }]);
    const { gateway, model, sleeps } = open(vendor.baseURL);
    expect(textOf(await collect(gateway.stream(requestFor(model), never)))).toBe("ok");
    expect(sleeps).toHaveLength(1);
  });

  test("bad JSON is named as such", async () => {
    await using vendor = await startVendor(type, () => ({ body: ['data: {"half": \n\n', "data: {}\n\n"] }));
    const { gateway, model } = open(vendor.baseURL);
    const { error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(faultOf(error).code).toBe("model/garbled");
    expect(vendor.requests).toHaveLength(3);
  });

  test("a server that does not answer runs into the first-byte limit (I-124)", async () => {
    await using vendor = await startVendor(type, () => ({ hang: true, body: [] }));
    const { gateway, model } = open(vendor.baseURL, {
      models: {
        providers: [
          { name: "vendor", type, baseURL: vendor.baseURL, apiKey: canaryKey, timeouts: { firstByteMs: 30 } },
        ],
      },
      options: { retry: { tries: 1 } },
    });
    const { error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(faultOf(error)).toMatchObject({ code: "model/timeout" });
    expect((await vendor.clientClosed()).cutByClient).toBe(true);
  });

  test("a server that falls silent runs into the idle limit", async () => {
    await using vendor = await startVendor(type, () => ({ text: "begin", hang: true }));
    const { gateway, model } = open(vendor.baseURL, {
      models: {
        providers: [{ name: "vendor", type, baseURL: vendor.baseURL, apiKey: canaryKey, timeouts: { idleMs: 30 } }],
      },
    });
    const { events, error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(faultOf(error).code).toBe("model/timeout");
    expect(textOf(events)).toBe("begin");
    expect(events.at(-1)).toMatchObject({ kind: "text-ended" });
  });

  test("a refused connection is unreachable", async () => {
    const vendor = await startVendor(type, []);
    const { gateway, model, sleeps } = open(vendor.baseURL);
    await vendor.close();
    const { error } = await collectAll(gateway.stream(requestFor(model), never));
    expect(faultOf(error).code).toBe("model/unreachable");
    expect(sleeps).toHaveLength(2);
  });

  test("replays a whole turn so that the strict vendor accepts it: signatures, ids, results (I-111, I-112, I-113)", async () => {
    const calls = [
      { name: "Read", args: { path: "a.md" } },
      { name: "Read", args: { path: "b.md" } },
    ];
    await using vendor = await startVendor(type, [{ thinking: "hm, so", text: "looking", calls }, { text: "done" }]);
    const { gateway, model } = open(vendor.baseURL);
    const first = requestFor(model, { parameters: { effort: "high" } });
    const answer = assistantMessage(await collect(gateway.stream(first, never)));
    const messages: HistoryMessage[] = [
      ...first.messages,
      JSON.parse(JSON.stringify(answer)) as HistoryMessage,
      resultsFor(answer),
    ];
    expect(textOf(await collect(gateway.stream({ ...first, messages }, never)))).toBe("done");
    const replayed = JSON.stringify(vendor.requests[1]?.body);
    const mark = {
      openai: "encrypted_content",
      anthropic: '"signature"',
      google: "thoughtSignature",
      "openai-compatible": '"reasoning_content":"hm, so"',
    }[type];
    expect(replayed).toContain(mark);
    // The longer prompt begins with the shorter one's words (I-123).
    expect(replayed).toContain("hello");
  });

  test("history of another model is accepted: its data is dropped, its ids are rewritten (I-103, I-111)", async () => {
    await using vendor = await startVendor(type, [{ text: "fine" }]);
    const { gateway, model } = open(vendor.baseURL);
    const provider = {
      provider: "elsewhere",
      model: "other",
      data: { [type]: { signature: "x", itemId: "rs_9", thoughtSignature: "y" } },
    };
    const messages: HistoryMessage[] = [
      { role: "user", content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "secret thoughts", provider },
          { type: "text", text: "" },
          { type: "tool-call", toolCallId: "functions.read:0", toolName: "1.weird tool/名前", args: {}, provider },
        ],
      },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "gone", toolName: "Read", result: "orphan" }] },
      { role: "user", content: [{ type: "text", text: "again" }] },
      { role: "assistant", content: [{ type: "text", text: "cut answer  " }] },
    ];
    expect(textOf(await collect(gateway.stream(requestFor(model, { messages }), never)))).toBe("fine");
    const sent = JSON.stringify(vendor.requests[0]?.body);
    expect(sent).not.toContain("secret thoughts");
    expect(sent).not.toContain("orphan");
    expect(sent).toContain("interrupted before it returned");
  });

  test("a refused signature is dropped once and for all in that conversation (I-111)", async () => {
    await using vendor = await startVendor(type, (_request, index) =>
      index === 0
        ? { status: 400, error: { type: "invalid_request_error", message: "Invalid signature in thinking block" } }
        : { text: "ok" },
    );
    const { gateway, model, sleeps } = open(vendor.baseURL);
    expect(textOf(await collect(gateway.stream(requestFor(model), never)))).toBe("ok");
    expect(textOf(await collect(gateway.stream(requestFor(model), never)))).toBe("ok");
    expect(sleeps).toEqual([]);
    expect(vendor.requests).toHaveLength(3);
  });
});

function resultsFor(answer: Extract<HistoryMessage, { role: "assistant" }>): HistoryMessage {
  return {
    role: "tool",
    content: answer.content.flatMap((part) =>
      part.type === "tool-call"
        ? [
            {
              type: "tool-result" as const,
              toolCallId: part.toolCallId,
              toolName: part.toolName,
              result: `result of ${part.toolCallId}`,
            },
          ]
        : [],
    ),
  };
}
