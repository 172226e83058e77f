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

const callId = /^[a-zA-Z0-9_-]{1,40}$/;
const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** OpenAI's chat completions, as strict as the strict servers among the compatible ones. */
export const chatProtocol: VendorProtocol = {
  basePath: "/v1",
  accepts: (path) => path === "/v1/chat/completions",
  refuse: ({ body }) => refuseTools(body) ?? refuseMessages(objects(body["messages"])),
  events,
  errorBody: ({ type, message }) => ({ error: { message, type, code: type, param: null } }),
};

function refuseTools(body: JsonObject): Refusal | undefined {
  for (const tool of objects(body["tools"])) {
    const { name } = tool["function"] as { name: string };
    if (!toolName.test(name)) return bad(`Invalid 'tools[].function.name': ${name}`);
  }
  return undefined;
}

function refuseMessages(messages: readonly JsonObject[]): Refusal | undefined {
  let open = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    if (message["role"] === "tool") {
      if (!open.delete(message["tool_call_id"])) {
        return bad("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.");
      }
      continue;
    }
    if (open.size > 0)
      return bad("An assistant message with 'tool_calls' must be followed by tool messages for each call.");
    if (message["role"] === "system" && index > 0) return bad("A system message must come first.");
    if (message["role"] === "user" && hasEmptyText(message["content"])) return bad("A user message has empty content.");
    if (message["role"] === "assistant") {
      const calls = objects(message["tool_calls"]);
      if (calls.length === 0 && !message["content"]) return bad("An assistant message needs content or tool_calls.");
      const invalid = calls.find((call) => !callId.test(String(call["id"])));
      if (invalid) return bad(`Invalid 'tool_calls[].id': ${String(invalid["id"])}`);
      open = new Set(calls.map((call) => call["id"]));
      if (open.size < calls.length) return bad("Duplicate tool call ids in one message.");
    }
  }
  return open.size > 0 ? bad("tool_call_ids did not have response messages.") : undefined;
}

function hasEmptyText(content: unknown): boolean {
  if (typeof content === "string") return content === "";
  return objects(content).some((part) => part["type"] === "text" && part["text"] === "");
}

function events(answer: ScriptedAnswer, { body }: CapturedRequest): { content: string[]; end: string[] } {
  const chunk = (delta: JsonObject, finish: string | null = null) =>
    frame({ ...head(body), choices: [{ index: 0, delta, finish_reason: finish }] });
  const content = [chunk({ role: "assistant", content: "" })];
  for (const piece of deltas(answer.thinking ?? "", answer.deltaCount))
    content.push(chunk({ reasoning_content: piece }));
  for (const piece of deltas(answer.text ?? "", answer.deltaCount)) content.push(chunk({ content: piece }));
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const [first = "", ...rest] = deltas(argumentsText(call), answer.deltaCount);
    const id = call.id ?? `call_${index}`;
    content.push(
      chunk({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: first } }] }),
    );
    for (const piece of rest) content.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  const end = [chunk({}, answer.finish ?? (answer.calls?.length ? "tool_calls" : "stop"))];
  const usage = answer.usage;
  if (usage && (body["stream_options"] as JsonObject | undefined)?.["include_usage"]) {
    end.push(
      frame({
        ...head(body),
        choices: [],
        usage: {
          prompt_tokens: usage.input ?? 0,
          completion_tokens: usage.output ?? 0,
          total_tokens: (usage.input ?? 0) + (usage.output ?? 0),
          prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
          completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
        },
      }),
    );
  }
  return { content, end: [...end, "data: [DONE]\n\n"] };
}

function head(body: JsonObject): JsonObject {
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: body["model"] };
}

function frame(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
