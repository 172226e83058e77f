import type { LanguageModelV3Message, LanguageModelV3Prompt, SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { AssistantMessage, AssistantPart, HistoryMessage, ProviderData, UserMessage } from "../run/history.js";
import { type ImageLimits, projectImage } from "./images.js";
import { type PairedMessage, type PairedResult, pairCalls } from "./pair-calls.js";
import type { ModelRequest } from "./port.js";
import type { ToolIds } from "./tool-ids.js";
import type { ToolNames } from "./tool-names.js";

type V3Assistant = Extract<LanguageModelV3Message, { role: "assistant" }>;
type V3Tool = Extract<LanguageModelV3Message, { role: "tool" }>;
type V3User = Extract<LanguageModelV3Message, { role: "user" }>;

/** What one provider wants of a prompt. */
export interface PromptRules {
  /** Several system messages become one. */
  readonly mergeSystem?: boolean;
  /** Images of tool results follow in a user message, because results are text only. */
  readonly imagesAfterResults?: boolean;
  readonly images: ImageLimits;
  /** Drops the reasoning the provider would refuse; the parts all carry data of the same provider and model. */
  replayable(content: readonly AssistantPart[]): readonly AssistantPart[];
  /** Last changes to an assistant message in the driver's form. */
  finishAssistant?(message: V3Assistant, source: readonly AssistantPart[]): V3Assistant;
}

/** What a conversion works with. */
export interface PromptContext {
  readonly request: Pick<ModelRequest, "model" | "messages" | "image">;
  readonly rules: PromptRules;
  readonly names: ToolNames;
  readonly ids: ToolIds;
  /** False: all provider data is left out, after the provider refused it. */
  readonly replay: boolean;
}

const goOnText = "Continue where you stopped.";
const firstText = "(The conversation begins with the answer below.)";

/**
 * Turns our history into the driver's prompt. Valid for every provider: calls and results are paired, no text
 * is empty (I-121), it begins and ends with the user's side, and provider data is sent back only to the
 * provider and model it came from (I-111). Deterministic: the same history gives the same prompt (I-123).
 */
export async function convertPrompt(context: PromptContext): Promise<LanguageModelV3Prompt> {
  const { leading, rest } = splitSystem(context.request.messages);
  const prompt: LanguageModelV3Prompt = systemMessages(leading, context.rules);
  const start = prompt.length;
  const callIds: string[] = [];
  for (const message of pairCalls(rest)) prompt.push(...(await convertMessage(message, context, callIds)));
  if (prompt[start]?.role !== "user") prompt.splice(start, 0, userText(firstText));
  if (prompt.at(-1)?.role === "assistant") prompt.push(userText(goOnText));
  return prompt;
}

async function convertMessage(
  message: PairedMessage,
  context: PromptContext,
  callIds: string[],
): Promise<LanguageModelV3Message[]> {
  switch (message.role) {
    case "system":
      // Only a beginning can be a system message everywhere.
      return isBlank(message.content) ? [] : [userText(`<system>\n${message.content}\n</system>`)];
    case "user":
      return convertUser(message, context);
    case "assistant":
      return convertAssistant(message, context, callIds);
    case "tool":
      return convertResults(message.results, context, callIds);
  }
}

async function convertUser(message: UserMessage, context: PromptContext): Promise<V3User[]> {
  const content: V3User["content"] = [];
  for (const part of message.content) {
    if (part.type === "image") content.push(await imagePart(part.blobId, context));
    else if (!isBlank(part.text)) content.push({ type: "text", text: part.text });
  }
  return content.length === 0 ? [] : [{ role: "user", content }];
}

function convertAssistant(message: AssistantMessage, context: PromptContext, callIds: string[]): V3Assistant[] {
  const source = context.rules.replayable(message.content.flatMap((part) => ownPart(part, context)));
  const content: V3Assistant["content"] = [];
  for (const part of source) {
    const providerOptions = optionsOf(part.provider);
    if (part.type === "text") content.push({ type: "text", text: part.text, ...providerOptions });
    else if (part.type === "reasoning") content.push({ type: "reasoning", text: part.text, ...providerOptions });
    else {
      const toolCallId = context.ids.next(part.toolCallId);
      callIds.push(toolCallId);
      const input = typeof part.args === "object" && part.args !== null && !Array.isArray(part.args) ? part.args : {};
      content.push({
        type: "tool-call",
        toolCallId,
        toolName: context.names.toProvider(part.toolName),
        input,
        ...providerOptions,
      });
    }
  }
  if (content.length === 0) return [];
  const converted: V3Assistant = { role: "assistant", content };
  return [context.rules.finishAssistant?.(converted, source) ?? converted];
}

/** The part as this provider may see it: foreign reasoning is gone, foreign data on text and calls is taken off. */
function ownPart(part: AssistantPart, context: PromptContext): AssistantPart[] {
  const { provider: data, ...bare } = part;
  const matches = context.replay && data !== undefined && isOwn(data, context.request.model);
  if (part.type === "reasoning") return matches ? [part] : [];
  if (part.type === "text" && isBlank(part.text)) return [];
  return [matches ? part : bare];
}

function isOwn(data: ProviderData, model: ModelRequest["model"]): boolean {
  return data.provider === model.provider && data.model === model.model;
}

async function convertResults(
  results: readonly PairedResult[],
  context: PromptContext,
  callIds: string[],
): Promise<LanguageModelV3Message[]> {
  const content: V3Tool["content"] = [];
  const after: V3User["content"] = [];
  for (const { call, result } of results) {
    const images = await Promise.all((result.images ?? []).map((image) => imagePart(image.blobId, context)));
    const toolName = context.names.toProvider(call.toolName);
    const text = isBlank(result.result) ? "(no output)" : result.result;
    const inline = images.length > 0 && !context.rules.imagesAfterResults;
    if (images.length > 0 && !inline) after.push({ type: "text", text: `Images returned by ${toolName}:` }, ...images);
    content.push({
      type: "tool-result",
      // The results of a message follow it at once and in call order.
      toolCallId: callIds.shift() ?? context.ids.next(call.toolCallId),
      toolName,
      output: inline
        ? { type: "content", value: [{ type: "text", text }, ...images.map(resultImage)] }
        : { type: result.isError ? "error-text" : "text", value: text },
    });
  }
  const messages: LanguageModelV3Message[] = [{ role: "tool", content }];
  if (after.length > 0) messages.push({ role: "user", content: after });
  return messages;
}

type ImageOrNote = V3User["content"][number];

async function imagePart(blobId: string, { request, rules }: PromptContext): Promise<ImageOrNote> {
  const image = projectImage(
    request.model.vision ? await request.image(blobId) : undefined,
    request.model.vision,
    rules.images,
  );
  return "note" in image
    ? { type: "text", text: image.note }
    : { type: "file", data: image.bytes, mediaType: image.mediaType };
}

function resultImage(part: ImageOrNote) {
  if (part.type === "text") return { type: "text" as const, text: part.text };
  return {
    type: "image-data" as const,
    data: Buffer.from(part.data as Uint8Array).toString("base64"),
    mediaType: part.mediaType,
  };
}

function splitSystem(messages: readonly HistoryMessage[]): { leading: string[]; rest: HistoryMessage[] } {
  const first = messages.findIndex((message) => message.role !== "system");
  const end = first < 0 ? messages.length : first;
  const leading = messages.slice(0, end).map((message) => message.content as string);
  return { leading: leading.filter((text) => !isBlank(text)), rest: messages.slice(end) };
}

function systemMessages(texts: readonly string[], rules: PromptRules): LanguageModelV3Prompt {
  const merged = rules.mergeSystem && texts.length > 1 ? [texts.join("\n\n")] : texts;
  return merged.map((content) => ({ role: "system", content }));
}

function optionsOf(data: ProviderData | undefined): { providerOptions?: SharedV3ProviderOptions } {
  return data === undefined ? {} : { providerOptions: data.data as SharedV3ProviderOptions };
}

function userText(text: string): V3User {
  return { role: "user", content: [{ type: "text", text }] };
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
