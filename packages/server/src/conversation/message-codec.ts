import type { AssistantPart, HistoryMessage, ProviderData, ToolResultPart, UserPart } from "../run/history.js";
import type { Blob, Json } from "../run/ids.js";
import { blobOf } from "./blob.js";

/** A history message as the blob it is kept in. The same message always gives the same bytes (I-123). */
export function encodeMessage(message: HistoryMessage): Blob {
  return blobOf(new TextEncoder().encode(JSON.stringify(message)));
}

/**
 * Reads a message blob. Tolerant of other servers' spelling: text as a bare string, results of any JSON kind.
 * Undefined for what is no message at all; an unknown part is left out.
 */
export function decodeMessage(bytes: Uint8Array): HistoryMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const parts = Array.isArray(value.content) ? value.content.filter(isObject) : [];
  const text = typeof value.content === "string" ? value.content : undefined;
  switch (value.role) {
    case "system":
      return { role: "system", content: text ?? parts.map((part) => textOf(part.text, "")).join("\n") };
    case "user":
      return { role: "user", content: text === undefined ? parts.flatMap(userPart) : [{ type: "text", text }] };
    case "assistant":
      return {
        role: "assistant",
        content: text === undefined ? parts.flatMap(assistantPart) : [{ type: "text", text }],
      };
    case "tool":
      return { role: "tool", content: parts.flatMap(resultPart) };
    default:
      return undefined;
  }
}

type Loose = { readonly [key: string]: unknown };

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function userPart(part: Loose): UserPart[] {
  if (part.type === "text" && typeof part.text === "string") return [{ type: "text", text: part.text }];
  if (part.type === "image" && typeof part.blobId === "string") {
    return [{ type: "image", mediaType: textOf(part.mediaType, "image/png"), blobId: part.blobId }];
  }
  return [];
}

function assistantPart(part: Loose): AssistantPart[] {
  const provider = providerData(part.provider);
  if (part.type === "text" && typeof part.text === "string") return [{ type: "text", text: part.text, ...provider }];
  if (part.type === "reasoning" && typeof part.text === "string") {
    return [{ type: "reasoning", text: part.text, ...provider }];
  }
  if (part.type === "tool-call" && typeof part.toolCallId === "string" && typeof part.toolName === "string") {
    const args = isObject(part.args) ? (part.args as Json) : {};
    return [{ type: "tool-call", toolCallId: part.toolCallId, toolName: part.toolName, args, ...provider }];
  }
  return [];
}

function resultPart(part: Loose): ToolResultPart[] {
  if (part.type !== "tool-result" || typeof part.toolCallId !== "string") return [];
  const result = typeof part.result === "string" ? part.result : JSON.stringify(part.result ?? "");
  const images = Array.isArray(part.images) ? part.images.filter(isObject).flatMap(image) : [];
  return [
    {
      type: "tool-result",
      toolCallId: part.toolCallId,
      toolName: textOf(part.toolName, ""),
      result,
      ...(part.isError === true ? { isError: true } : {}),
      ...(images.length > 0 ? { images } : {}),
    },
  ];
}

function image(part: Loose): { mediaType: string; blobId: string }[] {
  return typeof part.blobId === "string"
    ? [{ mediaType: textOf(part.mediaType, "image/png"), blobId: part.blobId }]
    : [];
}

function providerData(value: unknown): { provider?: ProviderData } {
  if (!isObject(value) || typeof value.provider !== "string" || typeof value.model !== "string") return {};
  return { provider: { provider: value.provider, model: value.model, data: (value.data ?? null) as Json } };
}
