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

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
const callId = /^[a-zA-Z0-9_-]{1,64}$/;

/** OpenAI's Responses API with `store: false`. */
export const responsesProtocol: VendorProtocol = {
  basePath: "/v1",
  accepts: (path) => path === "/v1/responses",
  refuse,
  events,
  errorBody: ({ type, message }) => ({ error: { message, type, code: type, param: null } }),
};

function refuse({ body, headers }: CapturedRequest): Refusal | undefined {
  if (!headers.authorization)
    return { status: 401, type: "invalid_api_key", message: "You didn't provide an API key." };
  if (typeof body["prompt_cache_key"] === "string" && body["prompt_cache_key"].length > 64)
    return bad("Invalid 'prompt_cache_key': string too long.");
  for (const tool of objects(body["tools"])) {
    if (!toolName.test(String(tool["name"]))) return bad(`Invalid 'tools[].name': ${String(tool["name"])}`);
  }
  return refuseInput(objects(body["input"]), body["model"]);
}

function refuseInput(items: readonly JsonObject[], model: unknown): Refusal | undefined {
  const open = new Set<string>();
  for (const [index, item] of items.entries()) {
    switch (item["type"]) {
      case "reasoning": {
        if (item["encrypted_content"] === undefined) {
          return {
            status: 404,
            type: "invalid_request_error",
            message: `Item with id '${String(item["id"])}' not found.`,
          };
        }
        if (item["encrypted_content"] !== signatureOf(model, String(item["id"]))) {
          return bad("The encrypted content could not be verified.", "invalid_encrypted_content");
        }
        const next = items.slice(index + 1).find((other) => other["type"] !== "reasoning");
        const follows = next?.["type"] === "function_call" || next?.["role"] === "assistant";
        if (!follows)
          return bad(
            `Item '${String(item["id"])}' of type 'reasoning' was provided without its required following item.`,
          );
        break;
      }
      case "function_call":
        if (!callId.test(String(item["call_id"]))) return bad(`Invalid 'call_id': ${String(item["call_id"])}`);
        if (open.has(String(item["call_id"]))) return bad("Duplicate call_id.");
        open.add(String(item["call_id"]));
        break;
      case "function_call_output":
        if (!open.delete(String(item["call_id"])))
          return bad(`No tool call found for function call output with call_id ${String(item["call_id"])}.`);
        break;
    }
  }
  const [missing] = open;
  return missing === undefined ? undefined : bad(`No tool output found for function call ${missing}.`);
}

function events(answer: ScriptedAnswer, { body }: CapturedRequest): { content: string[]; end: string[] } {
  const content = [
    frame("response.created", { response: { id: "resp_1", created_at: 1_700_000_000, model: body["model"] } }),
  ];
  let output_index = 0;
  const item = (added: JsonObject, pieces: string[], done: JsonObject) => {
    content.push(frame("response.output_item.added", { output_index, item: added }), ...pieces);
    content.push(frame("response.output_item.done", { output_index, item: { ...added, ...done } }));
    output_index += 1;
  };
  if (answer.thinking !== undefined) {
    const id = `rs_${objects(body["input"]).length}`;
    const item_id = id;
    const pieces = deltas(answer.thinking, answer.deltaCount).map((delta) =>
      frame("response.reasoning_summary_text.delta", { item_id, summary_index: 0, output_index, delta }),
    );
    const start = frame("response.reasoning_summary_part.added", { item_id, summary_index: 0, output_index });
    const end = frame("response.reasoning_summary_part.done", { item_id, summary_index: 0, output_index });
    item(
      { type: "reasoning", id, summary: [], encrypted_content: null },
      answer.thinking === "" ? [] : [start, ...pieces, end],
      {
        encrypted_content: signatureOf(body["model"], id),
      },
    );
  }
  if (answer.text !== undefined) {
    const id = `msg_${output_index}`;
    const pieces = deltas(answer.text, answer.deltaCount).map((delta) =>
      frame("response.output_text.delta", { item_id: id, output_index, content_index: 0, delta }),
    );
    item({ type: "message", id, role: "assistant", content: [] }, pieces, {});
  }
  for (const [number, call] of (answer.calls ?? []).entries()) {
    const id = `fc_${output_index}`;
    const args = argumentsText(call);
    const pieces = deltas(args, answer.deltaCount).map((delta) =>
      frame("response.function_call_arguments.delta", { item_id: id, output_index, delta }),
    );
    const added = { type: "function_call", id, call_id: call.id ?? `call_${number}`, name: call.name, arguments: "" };
    item(added, pieces, { arguments: args, status: "completed" });
  }
  const incomplete = answer.finish !== undefined && answer.finish !== "stop";
  const type = incomplete ? "response.incomplete" : "response.completed";
  const response = {
    id: "resp_1",
    incomplete_details: incomplete ? { reason: answer.finish } : null,
    usage: {
      input_tokens: answer.usage?.input ?? 0,
      input_tokens_details: { cached_tokens: answer.usage?.cacheRead ?? 0 },
      output_tokens: answer.usage?.output ?? 0,
      output_tokens_details: { reasoning_tokens: answer.usage?.reasoning ?? 0 },
    },
  };
  return { content, end: [frame(type, { response })] };
}

function frame(type: string, value: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`;
}
