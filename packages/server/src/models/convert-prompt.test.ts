import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import fc from "fast-check";
import { expect, test } from "vitest";
import { gatewayFor } from "../../../../test/support/vendors/gateway-fixture.js";
import type { AssistantPart, HistoryMessage } from "../run/history.js";
import { convertPrompt } from "./convert-prompt.js";
import { missingResultText } from "./pair-calls.js";
import type { ModelRequest } from "./port.js";
import { anthropicAdapter } from "./providers/anthropic.js";
import { openaiAdapter } from "./providers/openai.js";
import { openaiCompatibleAdapter } from "./providers/openai-compatible.js";
import { createToolIds, type ToolIdStyle } from "./tool-ids.js";
import { createToolNames } from "./tool-names.js";

const { model } = gatewayFor("anthropic", "http://127.0.0.1:1", { model: "claude-opus-4-6" });
const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0);

function convert(
  messages: readonly HistoryMessage[],
  more: {
    rules?: typeof anthropicAdapter.rules;
    style?: ToolIdStyle;
    replay?: boolean;
    request?: Partial<ModelRequest>;
  } = {},
) {
  return convertPrompt({
    request: { model, messages, image: async () => png, ...more.request },
    rules: more.rules ?? anthropicAdapter.rules,
    names: createToolNames([]),
    ids: createToolIds(more.style ?? "common"),
    replay: more.replay ?? true,
  });
}

const text = (words: string) => ({ type: "text" as const, text: words });
const user = (words: string): HistoryMessage => ({ role: "user", content: [text(words)] });
const call = (toolCallId: string, toolName = "Read"): AssistantPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  args: {},
});
const result = (toolCallId: string, words = "ok") => ({
  type: "tool-result" as const,
  toolCallId,
  toolName: "Read",
  result: words,
});

const id = fc.constantFrom("a", "b", "list_dir:0", "functions.Read:0", "toolu_1", "x".repeat(90));
const data = fc.constantFrom(
  undefined,
  {
    provider: "vendor",
    model: "claude-opus-4-6",
    data: { anthropic: { signature: "s" }, openai: { itemId: "rs", reasoningEncryptedContent: "e" } },
  },
  { provider: "other", model: "m", data: { anthropic: { signature: "t" } } },
);
const words = fc.constantFrom("", " ", "hello", "Workspace: /w");
const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: words, provider: data }),
  fc.record({ type: fc.constant("reasoning" as const), text: words, provider: data }),
  fc.record({
    type: fc.constant("tool-call" as const),
    toolCallId: id,
    toolName: fc.constantFrom("Read", "1.odd/名"),
    args: fc.constant({}),
    provider: data,
  }),
);
const message: fc.Arbitrary<HistoryMessage> = fc.oneof(
  fc.record({ role: fc.constant("system" as const), content: words }),
  fc.record({
    role: fc.constant("user" as const),
    content: fc.array(
      fc.oneof(words.map(text), fc.constant({ type: "image" as const, mediaType: "image/png", blobId: "b" })),
      { maxLength: 3 },
    ),
  }),
  fc.record({ role: fc.constant("assistant" as const), content: fc.array(assistantPart, { maxLength: 5 }) }),
  fc.record({
    role: fc.constant("tool" as const),
    content: fc.array(
      id.chain((name) => words.map((output) => result(name, output))),
      { maxLength: 4 },
    ),
  }),
);

/** What every provider refuses. */
function problems(prompt: LanguageModelV3Prompt): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  let open: string[] = [];
  const rest = prompt.slice(prompt.findIndex((one) => one.role !== "system"));
  if (rest[0]?.role !== "user") found.push("does not begin with the user");
  if (rest.at(-1)?.role === "assistant") found.push("ends with the assistant");
  for (const one of rest) {
    if (one.role === "system") found.push("system message in the middle");
    if (one.content.length === 0) found.push("empty message");
    if (one.role === "tool") {
      const ids = one.content.map((part) => (part.type === "tool-result" ? part.toolCallId : ""));
      if (JSON.stringify(ids) !== JSON.stringify(open)) found.push(`results ${ids.join()} for calls ${open.join()}`);
      open = [];
      continue;
    }
    if (open.length > 0) found.push("calls without results");
    if (one.role === "system") continue;
    for (const part of one.content) {
      if (part.type === "text" && part.text.trim() === "") found.push("empty text");
      if (part.type === "tool-call") {
        if (seen.has(part.toolCallId)) found.push(`id twice: ${part.toolCallId}`);
        seen.add(part.toolCallId);
        open.push(part.toolCallId);
      }
    }
  }
  return found;
}

test.each([
  ["anthropic", anthropicAdapter.rules],
  ["openai", openaiAdapter.rules],
  ["openai-compatible", openaiCompatibleAdapter.rules],
])(
  "%s: no history gives an orphan in either direction, an empty text or a double id (I-31, I-32, I-102, I-121)",
  async (_name, rules) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { maxLength: 8 }),
        fc.constantFrom<ToolIdStyle>("common", "nine"),
        async (messages, style) => {
          expect(problems(await convert(messages, { rules, style }))).toEqual([]);
        },
      ),
    );
  },
);

test("a longer history begins with the prompt of the shorter one (I-123)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 6 }), async (messages) => {
      const before = [user("start"), ...messages, user("next")];
      const shorter = await convert(before);
      const longer = await convert([
        ...before,
        { role: "assistant", content: [text("answer"), call("a")] },
        { role: "tool", content: [result("a")] },
      ]);
      expect(longer.slice(0, shorter.length)).toEqual(shorter);
    }),
  );
});

test("a missing result becomes a fixed error result, an orphan is dropped (I-31, I-32)", async () => {
  const prompt = await convert([
    user("go"),
    { role: "assistant", content: [call("a"), call("b")] },
    { role: "tool", content: [result("zzz"), result("b")] },
    user("on"),
  ]);
  expect(prompt.map((one) => one.role)).toEqual(["user", "assistant", "tool", "user"]);
  expect(prompt[2]?.content).toEqual([
    {
      type: "tool-result",
      toolCallId: "a",
      toolName: "Read",
      output: { type: "error-text", value: missingResultText },
    },
    { type: "tool-result", toolCallId: "b", toolName: "Read", output: { type: "text", value: "ok" } },
  ]);
});

test("the same id in two turns is two calls with their own results (I-102)", async () => {
  const turn = (output: string): HistoryMessage[] => [
    { role: "assistant", content: [call("list_dir:0")] },
    { role: "tool", content: [result("list_dir:0", output)] },
  ];
  const prompt = await convert([user("go"), ...turn("."), ...turn("/")]);
  const outputs = prompt
    .flatMap((one) => (one.role === "tool" ? one.content : []))
    .map((part) => (part.type === "tool-result" ? [part.toolCallId, part.output] : []));
  expect(outputs.map(([, output]) => output)).toEqual([
    { type: "text", value: "." },
    { type: "text", value: "/" },
  ]);
  expect(new Set(outputs.map(([name]) => name)).size).toBe(2);
});

test("Mistral's ids are nine letters and digits (I-103)", async () => {
  const prompt = await convert([user("go"), { role: "assistant", content: [call("functions.read:0")] }], {
    style: "nine",
  });
  expect(JSON.stringify(prompt)).toMatch(/"toolCallId":"[a-zA-Z0-9]{9}"/);
});

test("signatures go back to their own model only, and not after a refusal (I-111)", async () => {
  const own = { provider: "vendor", model: "claude-opus-4-6", data: { anthropic: { signature: "ErcAB==" } } };
  const history: HistoryMessage[] = [
    user("go"),
    { role: "assistant", content: [{ type: "reasoning", text: "hm", provider: own }, text("yes")] },
    user("on"),
  ];
  expect(JSON.stringify(await convert(history))).toContain("ErcAB==");
  expect(JSON.stringify(await convert(history, { replay: false }))).not.toContain("ErcAB==");
  expect(
    JSON.stringify(await convert(history, { request: { model: { ...model, model: "claude-sonnet-5" } } })),
  ).not.toContain("hm");
});

test("an OpenAI reasoning item whose call is gone goes too (I-113)", async () => {
  const own = (fields: object) => ({ provider: "vendor", model: "claude-opus-4-6", data: { openai: { ...fields } } });
  const reasoning: AssistantPart = {
    type: "reasoning",
    text: "hm",
    provider: own({ itemId: "rs_1", reasoningEncryptedContent: "enc" }),
  };
  const withCall = [
    user("go"),
    { role: "assistant" as const, content: [reasoning, { ...call("a"), provider: own({ itemId: "fc_1" }) }] },
  ];
  expect(JSON.stringify(await convert(withCall, { rules: openaiAdapter.rules }))).toContain("rs_1");
  const alone = [user("go"), { role: "assistant" as const, content: [reasoning] }, user("on")];
  expect(JSON.stringify(await convert(alone, { rules: openaiAdapter.rules }))).not.toContain("rs_1");
});

test("a chat server gets its reasoning back with its calls, under the name it used (I-110)", async () => {
  const own = (fields: object) => ({
    provider: "vendor",
    model: "claude-opus-4-6",
    data: { compatible: { ...fields } },
  });
  const answer = (fields: object): HistoryMessage => ({
    role: "assistant",
    content: [{ type: "reasoning", text: "r1", provider: own(fields) }, call("a")],
  });
  const { rules } = openaiCompatibleAdapter;
  const plain = await convert([user("go"), answer({}), user("on")], { rules });
  expect(plain[1]?.content[0]).toMatchObject({ type: "reasoning", text: "r1" });
  const renamed = await convert([user("go"), answer({ field: "reasoning" }), user("on")], { rules });
  expect(renamed[1]).toMatchObject({ providerOptions: { openaiCompatible: { reasoning: "r1" } } });
});

test("images go to models that see, a note to the others (I-122)", async () => {
  const history: HistoryMessage[] = [
    { role: "user", content: [{ type: "image", mediaType: "image/jpeg", blobId: "b" }] },
    { role: "assistant", content: [call("a")] },
    { role: "tool", content: [{ ...result("a"), images: [{ mediaType: "image/png", blobId: "b" }] }] },
  ];
  const seen = await convert(history);
  expect(seen[0]?.content[0]).toMatchObject({ type: "file", mediaType: "image/png" });
  expect(JSON.stringify(seen[2])).toContain("image-data");
  const blind = JSON.stringify(await convert(history, { request: { model: { ...model, vision: false } } }));
  expect(blind).toContain("cannot see images");
  expect(blind).not.toContain("image-data");
  const after = await convert(history, { rules: openaiCompatibleAdapter.rules });
  expect(after.map((one) => one.role)).toEqual(["user", "assistant", "tool", "user"]);
  const gone = await convert(history, { request: { image: async () => undefined } });
  expect(JSON.stringify(gone)).toContain("no longer stored");
});
