import { createModelGateway, type ModelGatewayOptions } from "../../../packages/server/src/models/gateway.js";
import type {
  ModelConfig,
  ModelEvent,
  ModelGateway,
  ModelInfo,
  ModelRequest,
  ModelsConfig,
  ProviderType,
} from "../../../packages/server/src/models/port.js";
import type { HistoryMessage } from "../../../packages/server/src/run/history.js";

/** A key that must never show up in any text. */
export const canaryKey = "canary-key-0123456789/+ab";

/** The four provider types with a model each that thinks. */
export const vendorCases: readonly { readonly type: ProviderType; readonly model: string }[] = [
  { type: "openai", model: "gpt-5.2" },
  { type: "anthropic", model: "claude-opus-4-6" },
  { type: "google", model: "gemini-3.5-flash" },
  { type: "openai-compatible", model: "local-model" },
];

/** A gateway with one model "m" at the given address, a clock that never waits, and what was slept. */
export interface GatewayFixture {
  readonly gateway: ModelGateway;
  readonly model: ModelInfo;
  readonly sleeps: number[];
}

/** Builds the fixture. */
export function gatewayFor(
  type: ProviderType,
  baseURL: string,
  more: {
    model?: string;
    config?: Partial<ModelConfig>;
    models?: Partial<ModelsConfig>;
    options?: ModelGatewayOptions;
  } = {},
): GatewayFixture {
  const sleeps: number[] = [];
  const gateway = createModelGateway(
    {
      providers: [
        { name: "vendor", type, baseURL, apiKey: canaryKey, ...more.models?.providers?.[0] },
        ...(more.models?.providers?.slice(1) ?? []),
      ],
      models: [
        { id: "m", provider: "vendor", ...(more.model === undefined ? {} : { model: more.model }), ...more.config },
        ...(more.models?.models ?? []),
      ],
      aliases: more.models?.aliases ?? {},
      ...(more.models?.fallbacks ? { fallbacks: more.models.fallbacks } : {}),
    },
    {
      clock: {
        sleep: async (delayMs) => {
          sleeps.push(delayMs);
        },
        random: () => 0,
        now: () => Date.UTC(2026, 0, 1),
      },
      ...more.options,
    },
  );
  const model = gateway.resolve("m");
  if (!model) throw new Error("The fixture's model is missing.");
  return { gateway, model, sleeps };
}

/** A request with a user's "hello" unless told otherwise. */
export function requestFor(model: ModelInfo, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model,
    messages: [
      { role: "system", content: "You help." },
      { role: "user", content: [{ type: "text", text: "hello" }] },
    ],
    tools: [
      {
        name: "Read",
        description: "Reads a file",
        parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      },
    ],
    parameters: {},
    cacheKey: "conversation-1",
    image: async () => undefined,
    ...more,
  };
}

/** All events of a pass; rejects like the pass. */
export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The events of a pass and what it threw, if it did. */
export async function collectAll(stream: AsyncIterable<ModelEvent>): Promise<{ events: ModelEvent[]; error: unknown }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of stream) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

/** The visible text of events. */
export function textOf(events: readonly ModelEvent[], kind: "text-delta" | "reasoning-delta" = "text-delta"): string {
  return events.map((event) => (event.kind === kind ? event.text : "")).join("");
}

/** The assistant message that a turn would store for these events. */
export function assistantMessage(
  events: readonly ModelEvent[],
  idPrefix = "call",
): Extract<HistoryMessage, { role: "assistant" }> {
  const content: Extract<HistoryMessage, { role: "assistant" }>["content"][number][] = [];
  let text = "";
  let reasoning = "";
  for (const event of events) {
    if (event.kind === "text-delta") text += event.text;
    else if (event.kind === "reasoning-delta") reasoning += event.text;
    else if (event.kind === "text-ended") {
      content.push({ type: "text", text, ...(event.provider ? { provider: event.provider } : {}) });
      text = "";
    } else if (event.kind === "reasoning-ended") {
      content.push({ type: "reasoning", text: reasoning, ...(event.provider ? { provider: event.provider } : {}) });
      reasoning = "";
    } else if (event.kind === "call") {
      const { name: toolName, provider } = event;
      content.push({
        type: "tool-call",
        toolCallId: `${idPrefix}:${event.index}`,
        toolName,
        args: JSON.parse(event.args),
        ...(provider ? { provider } : {}),
      });
    }
  }
  return { role: "assistant", content };
}
