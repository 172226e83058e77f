import {
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

const toolName = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const skipSignature = "skip_thought_signature_validator";

/** Google's Gemini API: signatures are checked, and asked for on the first call of an answer. */
export const googleProtocol: VendorProtocol = {
  basePath: "/v1beta",
  accepts: (path) => /^\/v1beta\/models\/[^/]+:streamGenerateContent$/.test(path),
  refuse,
  events,
  errorBody: ({ status, type, message }) => ({ error: { code: status, message, status: type } }),
};

function refuse({ body, headers, url }: CapturedRequest): Refusal | undefined {
  if (/[?&]key=/.test(url)) return invalid("The key must not be in the URL.");
  if (headers["x-goog-api-key"] === undefined)
    return { status: 403, type: "PERMISSION_DENIED", message: "Method doesn't allow unregistered callers." };
  for (const group of objects(body["tools"])) {
    for (const declaration of objects(group["functionDeclarations"])) {
      if (!toolName.test(String(declaration["name"])))
        return invalid(`Invalid function name: ${String(declaration["name"])}`);
    }
  }
  return refuseContents(objects(body["contents"]), modelOf(url));
}

function refuseContents(contents: readonly JsonObject[], model: string): Refusal | undefined {
  if (contents[0]?.["role"] !== "user") return invalid("Please ensure that the conversation starts with a user turn.");
  if (contents.at(-1)?.["role"] !== "user")
    return invalid("Please ensure that the conversation ends with a user turn.");
  let calls = 0;
  for (const content of contents) {
    const parts = objects(content["parts"]);
    if (parts.length === 0) return invalid("Unable to submit request because it must have a parts field.");
    const responses = parts.filter((part) => part["functionResponse"] !== undefined).length;
    if (responses !== calls && (calls > 0 || responses > 0)) {
      return invalid(
        "Please ensure that the number of function response parts is equal to the number of function call parts.",
      );
    }
    if (parts.some((part) => part["text"] === ""))
      return invalid("Unable to submit request because it has an empty text parameter.");
    const callParts = parts.filter((part) => part["functionCall"] !== undefined);
    calls = callParts.length;
    const refusal = refuseSignatures(parts, callParts, model);
    if (refusal) return refusal;
  }
  return calls > 0 ? invalid("Please ensure that function call turns are followed by function responses.") : undefined;
}

function refuseSignatures(
  parts: readonly JsonObject[],
  calls: readonly JsonObject[],
  model: string,
): Refusal | undefined {
  for (const part of parts) {
    const signature = part["thoughtSignature"];
    if (
      signature !== undefined &&
      signature !== skipSignature &&
      signature !== signatureOf(model, signedContent(part))
    ) {
      return invalid("Thought signature is not valid.");
    }
  }
  if (calls.length > 0 && calls[0]?.["thoughtSignature"] === undefined) {
    return invalid("Function call is missing a thought_signature in functionCall parts.");
  }
  return undefined;
}

function signedContent(part: JsonObject): string {
  const call = part["functionCall"] as JsonObject | undefined;
  return call ? `${String(call["name"])}${JSON.stringify(call["args"])}` : String(part["text"]);
}

function events(answer: ScriptedAnswer, { url }: CapturedRequest): { content: string[]; end: string[] } {
  const model = modelOf(url);
  const chunk = (parts: JsonObject[]) => frame({ candidates: [{ index: 0, content: { role: "model", parts } }] });
  const content: string[] = [];
  for (const text of deltas(answer.thinking ?? "", answer.deltaCount)) content.push(chunk([{ text, thought: true }]));
  for (const text of deltas(answer.text ?? "", answer.deltaCount)) content.push(chunk([{ text }]));
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const part: JsonObject = {
      functionCall: { ...(call.id === undefined ? {} : { id: call.id }), name: call.name, args: call.args },
    };
    content.push(chunk([index === 0 ? { ...part, thoughtSignature: signatureOf(model, signedContent(part)) } : part]));
  }
  const { input = 0, output = 0, cacheRead = 0, reasoning = 0 } = answer.usage ?? {};
  const usageMetadata = {
    promptTokenCount: input,
    cachedContentTokenCount: cacheRead,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  };
  const end = frame({
    candidates: [
      { index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason: answer.finish ?? "STOP" },
    ],
    ...(answer.usage ? { usageMetadata } : {}),
  });
  return { content, end: [end] };
}

function modelOf(url: string): string {
  return /models\/([^/:?]+):/.exec(url)?.[1] ?? "";
}

function invalid(message: string): Refusal {
  return bad(message, "INVALID_ARGUMENT");
}

function frame(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}
