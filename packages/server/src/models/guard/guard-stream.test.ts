import { describe, expect, test } from "vitest";
import type { ProviderType } from "../port.js";
import { createRedact } from "../redact.js";
import { guardStream } from "./guard-stream.js";
import { createStreamReport } from "./stream-report.js";

const encoder = new TextEncoder();

async function guard(type: ProviderType, chunks: readonly (string | Uint8Array)[], broken?: Error) {
  const report = createStreamReport();
  const parts = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = parts.shift();
      if (next !== undefined) controller.enqueue(typeof next === "string" ? encoder.encode(next) : next);
      else if (broken) controller.error(broken);
      else controller.close();
    },
  });
  const source = { provider: "vendor", type, model: "m", redact: createRedact([]), now: () => 0 };
  const guarded = guardStream(body, { type, source, report, signal: new AbortController().signal });
  const text = await new Response(guarded).text();
  const values = text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => JSON.parse(frame.slice("data: ".length)) as Record<string, unknown>);
  return { report, values };
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

describe("chat completions", () => {
  test("comments, keepalives and empty data are not events (I-81)", async () => {
    const { report, values } = await guard("openai-compatible", [
      ": OPENROUTER PROCESSING\n\n",
      "data: : keepalive\n\n",
      "data: \n\n",
      'event: ping\ndata: {"type":"ping"}\n\n',
      chunk({ content: "ok" }, "stop"),
      "data: [DONE]\n\n",
    ]);
    expect(values).toEqual([{ choices: [{ delta: { content: "ok" }, finish_reason: "stop" }] }]);
    expect(report).toEqual({ terminal: true, events: 1 });
  });

  test("a character split over chunks survives (I-80)", async () => {
    const bytes = encoder.encode(chunk({ content: "你好🌍" }, "stop"));
    const start = bytes.indexOf(0xe4);
    const cuts = [0, start + 1, start + 4, start + 5, start + 8, bytes.length];
    const { values } = await guard(
      "openai-compatible",
      cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end)),
    );
    expect(values).toEqual([{ choices: [{ delta: { content: "你好🌍" }, finish_reason: "stop" }] }]);
  });

  test("usage after the finish reason still comes through (I-88)", async () => {
    const { values } = await guard("openai-compatible", [
      chunk({}, "stop"),
      'data: {"choices":[],"usage":{"prompt_tokens":3}}\n\n',
      "data: [DONE]\n\n",
    ]);
    expect(values.at(-1)).toEqual({ choices: [], usage: { prompt_tokens: 3 } });
  });

  test("[DONE] without a finish reason is an end", async () => {
    const { report, values } = await guard("openai-compatible", [chunk({ content: "a" }), "data: [DONE]\n\n"]);
    expect(report.terminal).toBe(true);
    expect(values.at(-1)).toEqual({ choices: [{ delta: {}, finish_reason: "stop" }] });
  });

  test("an error object after output ends the stream with the provider's status (I-83)", async () => {
    const error =
      'data: {"error":{"code":502,"message":"Worker local total request limit reached (33/32)"},"choices":[]}\n\n';
    const { report, values } = await guard("openai-compatible", [
      chunk({ content: "par" }),
      error,
      chunk({ content: "lost" }),
    ]);
    expect(values).toHaveLength(1);
    expect(report.fault).toMatchObject({ code: "model/overloaded", status: 502 });
    expect(report.fault?.detail).toContain("Worker local total request limit reached");
  });

  test("no end mark is a truncated answer, a cut after the end is nothing (I-84)", async () => {
    expect((await guard("openai-compatible", [chunk({ content: "a" })])).report.fault?.code).toBe("model/truncated");
    expect((await guard("openai-compatible", [chunk({ content: "a" }), 'data: {"choi'])).report.fault?.code).toBe(
      "model/truncated",
    );
    expect((await guard("openai-compatible", [chunk({}, "stop")], new Error("reset"))).report.fault).toBeUndefined();
    expect((await guard("openai-compatible", [chunk({ content: "a" })], new Error("reset"))).report.fault?.code).toBe(
      "model/truncated",
    );
  });

  test("an error or a web page instead of a stream is named", async () => {
    const json = await guard("openai-compatible", ['{"error":{"message":"No quota","type":"insufficient_quota"}}']);
    expect(json.report.fault).toMatchObject({ code: "model/quota" });
    const page = await guard("openai-compatible", ["<!DOCTYPE html><html><body>Sign in</body></html>"]);
    expect(page.report.fault?.code).toBe("model/garbled");
  });

  test("odd fields are evened out", async () => {
    const odd = {
      id: 7,
      choices: [
        {
          index: 0,
          delta: {
            role: "Assistant",
            content: null,
            tool_calls: [null, { function: { name: "ls", arguments: null } }],
          },
          finish_reason: "",
        },
      ],
      usage: null,
    };
    const { values } = await guard("openai-compatible", [`data: ${JSON.stringify(odd)}\n\n`]);
    expect(values).toEqual([
      { choices: [{ delta: { tool_calls: [{ index: 0, id: "call_0", function: { name: "ls", arguments: "" } }] } }] },
    ]);
  });
});

describe("terminal marks", () => {
  test.each<[ProviderType, string, boolean]>([
    ["openai", '{"type":"response.completed","response":{}}', true],
    ["openai", '{"type":"response.incomplete","response":{}}', true],
    ["openai", '{"type":"response.output_text.done"}', false],
    ["anthropic", '{"type":"message_stop"}', true],
    ["anthropic", '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}', false],
    ["google", '{"candidates":[{"finishReason":"STOP"}]}', true],
    ["google", '{"promptFeedback":{"blockReason":"SAFETY"}}', true],
    ["google", '{"candidates":[{"content":{"parts":[]}}]}', false],
  ])("%s %s: %s", async (type, data, terminal) => {
    const { report } = await guard(type, [`data: ${data}\n\n`]);
    expect(report.terminal).toBe(terminal);
    expect(report.fault?.code).toBe(terminal ? undefined : "model/truncated");
  });

  test.each<[ProviderType, string, string]>([
    [
      "openai",
      '{"type":"response.failed","response":{"error":{"code":"server_error","message":"boom"}}}',
      "model/overloaded",
    ],
    ["openai", '{"type":"error","code":"rate_limit_exceeded","message":"slow"}', "model/rate-limited"],
    ["anthropic", '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "model/overloaded"],
    ["google", '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded"}}', "model/rate-limited"],
  ])("%s error %s", async (type, data, code) => {
    expect((await guard(type, [`data: ${data}\n\n`])).report.fault?.code).toBe(code);
  });
});
