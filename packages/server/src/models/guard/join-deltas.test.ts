import { describe, expect, it } from "vitest";
import { joinAnthropic, joinChat, joinResponses } from "./join-deltas.js";

const chat = (delta: Record<string, unknown>, more = {}) => ({ id: "c", choices: [{ delta }], ...more });
const call = (args: string, more = {}, head = {}) =>
  chat({ tool_calls: [{ index: 0, ...head, function: { ...more, arguments: args } }] });

describe("joinChat", () => {
  it("joins text with text, thinking with thinking, and more arguments with those before", () => {
    expect(joinChat(chat({ content: "a", refusal: undefined }), chat({ content: "b" }))).toEqual(
      chat({ content: "ab" }),
    );
    expect(joinChat(chat({ reasoning_content: "a" }), chat({ reasoning_content: "b" }))).toEqual(
      chat({ reasoning_content: "ab" }),
    );
    expect(joinChat(call("{", { name: "n" }, { id: "1" }), call("}"))).toEqual(call("{}", { name: "n" }, { id: "1" }));
  });

  it("leaves apart what is not the same", () => {
    const text = chat({ content: "a" });
    for (const next of [
      chat({ reasoning_content: "b" }),
      chat({ content: "b", reasoning_content: "c" }),
      chat({ content: [{ type: "text", text: "b" }] }),
      chat({ content: "b" }, { usage: { total_tokens: 1 } }),
      { choices: [{ delta: { content: "b" }, finish_reason: "stop" }] },
      { choices: [] },
      chat({}),
      call("{}"),
    ]) {
      expect(joinChat(text, next)).toBeUndefined();
    }
    expect(joinChat(call("{}"), call("{}", { name: "n" }, { id: "2" }))).toBeUndefined();
  });
});

describe("joinResponses", () => {
  const delta = (text: string, more = {}) => ({
    type: "response.output_text.delta",
    item_id: "i",
    output_index: 0,
    content_index: 0,
    delta: text,
    logprobs: [],
    ...more,
  });

  it("joins deltas of one part", () => {
    expect(joinResponses(delta("a", { sequence_number: 1 }), delta("b", { sequence_number: 2 }))).toEqual(
      delta("ab", { sequence_number: 2 }),
    );
  });

  it("leaves apart what is not the same", () => {
    for (const next of [
      delta("b", { content_index: 1 }),
      delta("b", { logprobs: [{}] }),
      { type: "response.created" },
    ]) {
      expect(joinResponses(delta("a"), next)).toBeUndefined();
    }
  });
});

describe("joinAnthropic", () => {
  const delta = (body: object, index = 0) => ({ type: "content_block_delta", index, delta: body });

  it("joins deltas of one block", () => {
    expect(
      joinAnthropic(
        delta({ type: "input_json_delta", partial_json: "{" }),
        delta({ type: "input_json_delta", partial_json: "}" }),
      ),
    ).toEqual(delta({ type: "input_json_delta", partial_json: "{}" }));
  });

  it("leaves apart what is not the same", () => {
    const text = delta({ type: "text_delta", text: "a" });
    for (const next of [
      delta({ type: "text_delta", text: "b" }, 1),
      delta({ type: "thinking_delta", thinking: "b" }),
      delta({ type: "signature_delta", signature: "b" }),
      { type: "content_block_stop", index: 0 },
    ]) {
      expect(joinAnthropic(text, next)).toBeUndefined();
    }
  });
});
