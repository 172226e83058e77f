import {
  argumentsText,
  bad,
  type CapturedRequest,
  deltas,
  type JsonObject,
  objects,
  type Refusal,
  type ScriptedAnswer,
  type VendorProtocol,
} from "./script.js";
import { signatureOf } from "./signatures.js";

const callId = /^[a-zA-Z0-9_-]+$/;
const toolName = /^[a-zA-Z0-9_-]{1,128}$/;

/** Anthropic's Messages API. Consecutive messages of one role are allowed, as the real one merges them. */
export const anthropicProtocol: VendorProtocol = {
  basePath: "/v1",
  accepts: (path) => path === "/v1/messages",
  refuse,
  events,
  errorBody: ({ type, message }) => ({ type: "error", error: { type, message } }),
};

function refuse({ body, headers }: CapturedRequest): Refusal | undefined {
  if (headers["x-api-key"] === undefined)
    return { status: 401, type: "authentication_error", message: "x-api-key header is required" };
  if (typeof body["max_tokens"] !== "number" || body["max_tokens"] < 1) return bad("max_tokens: Field required");
  for (const block of objects(body["system"]))
    if (block["text"] === "") return bad("system: text content blocks must be non-empty");
  for (const tool of objects(body["tools"])) {
    if (!toolName.test(String(tool["name"])))
      return bad(`tools.name: String should match pattern: ${String(tool["name"])}`);
  }
  const thinking = body["thinking"] as JsonObject | undefined;
  if (typeof thinking?.["budget_tokens"] === "number" && thinking["budget_tokens"] >= (body["max_tokens"] as number)) {
    return bad("max_tokens must be greater than thinking.budget_tokens");
  }
  return refuseMessages(body);
}

function refuseMessages(body: JsonObject): Refusal | undefined {
  const messages = objects(body["messages"]);
  if (messages[0]?.["role"] !== "user") return bad("messages: first message must use the user role");
  let open = new Set<unknown>();
  for (const message of messages) {
    const blocks =
      typeof message["content"] === "string"
        ? [{ type: "text", text: message["content"] }]
        : objects(message["content"]);
    if (blocks.length === 0) return bad("messages: content must not be empty");
    for (const block of blocks) {
      const refusal = refuseBlock(block, body["model"]);
      if (refusal) return refusal;
      if (block["type"] === "tool_result" && !open.delete(block["tool_use_id"])) {
        return bad(`unexpected tool_use_id found in tool_result blocks: ${String(block["tool_use_id"])}`);
      }
    }
    if (open.size > 0) return bad("tool_use ids were found without tool_result blocks immediately after");
    const ids = blocks.filter((block) => block["type"] === "tool_use").map((block) => block["id"]);
    open = new Set(ids);
    if (open.size < ids.length) return bad("tool_use ids must be unique");
  }
  return open.size > 0 ? bad("tool_use ids were found without tool_result blocks immediately after") : undefined;
}

function refuseBlock(block: JsonObject, model: unknown): Refusal | undefined {
  switch (block["type"]) {
    case "text":
      return String(block["text"]).trim() === "" ? bad("messages: text content blocks must be non-empty") : undefined;
    case "thinking":
      return block["signature"] === signatureOf(model, String(block["thinking"]))
        ? undefined
        : bad("Invalid `signature` in `thinking` block");
    case "redacted_thinking":
      return block["data"] === signatureOf(model, "redacted")
        ? undefined
        : bad("Invalid `data` in `redacted_thinking` block");
    case "tool_use":
      return callId.test(String(block["id"]))
        ? undefined
        : bad(`tool_use.id: String should match pattern: ${String(block["id"])}`);
    default:
      return undefined;
  }
}

function events(answer: ScriptedAnswer, { body }: CapturedRequest): { content: string[]; end: string[] } {
  const usage = answer.usage ?? {};
  const content = [
    frame("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: body["model"],
        content: [],
        stop_reason: null,
        usage: { input_tokens: usage.input ?? 0, cache_read_input_tokens: usage.cacheRead ?? 0, output_tokens: 1 },
      },
    }),
    frame("ping", {}),
  ];
  let index = 0;
  const block = (start: JsonObject, pieces: JsonObject[]) => {
    content.push(frame("content_block_start", { index, content_block: start }));
    for (const delta of pieces) content.push(frame("content_block_delta", { index, delta }));
    content.push(frame("content_block_stop", { index }));
    index += 1;
  };
  if (answer.thinking !== undefined) {
    const signature = signatureOf(body["model"], answer.thinking);
    block({ type: "thinking", thinking: "", signature: "" }, [
      ...deltas(answer.thinking, answer.deltaCount).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature },
    ]);
  }
  if (answer.text !== undefined) {
    block(
      { type: "text", text: "" },
      deltas(answer.text, answer.deltaCount).map((text) => ({ type: "text_delta", text })),
    );
  }
  for (const [number, call] of (answer.calls ?? []).entries()) {
    const pieces = deltas(argumentsText(call), answer.deltaCount).map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
    block({ type: "tool_use", id: call.id ?? `toolu_${number}`, name: call.name, input: {} }, pieces);
  }
  const stop_reason = answer.finish ?? (answer.calls?.length ? "tool_use" : "end_turn");
  return {
    content,
    end: [
      frame("message_delta", {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: usage.output ?? 0 },
      }),
      frame("message_stop", {}),
    ],
  };
}

function frame(type: string, value: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`;
}
