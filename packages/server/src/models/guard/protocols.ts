import { type ProviderError, readProviderError } from "../errors.js";
import type { ProviderType } from "../port.js";
import { CallSlots, type RawCallDelta } from "./call-slots.js";
import { type JoinDeltas, joinAnthropic, joinChat, joinResponses } from "./join-deltas.js";
import type { StreamReport } from "./stream-report.js";

/** What one event means for the guard. */
export interface Accepted {
  /** Values to pass on to the driver, in order. */
  readonly forward: readonly Readonly<Record<string, unknown>>[];
  /** An error the provider put into the stream (I-83). */
  readonly error?: ProviderError;
  /** "soft": the answer is whole but usage may follow; "hard": nothing follows. */
  readonly terminal?: "soft" | "hard";
}

/** The rules of one vendor's stream. One instance serves one response. */
export interface StreamProtocol {
  accept(value: Record<string, unknown>): Accepted;
  /** The `[DONE]` line. */
  done(): Accepted;
  readonly join?: JoinDeltas;
}

/** The rules for a provider type. `report` receives what the rules learn on the way. */
export function createStreamProtocol(type: ProviderType, report: StreamReport): StreamProtocol {
  switch (type) {
    case "openai-compatible":
      return new ChatProtocol(report);
    case "openai":
      return new ResponsesProtocol();
    case "anthropic":
      return new AnthropicProtocol();
    case "google":
      return new GoogleProtocol();
  }
}

const nothing: Accepted = { forward: [] };

class ChatProtocol implements StreamProtocol {
  readonly join = joinChat;
  readonly #slots = new CallSlots();
  readonly #report: StreamReport;
  #finished = false;

  constructor(report: StreamReport) {
    this.#report = report;
  }

  accept(value: Record<string, unknown>): Accepted {
    const failure = isPresent(value["error"]) ? readProviderError(value) : undefined;
    if (failure) return { forward: [], error: failure };
    const choice = firstRecord(value["choices"]);
    const finish =
      typeof choice?.["finish_reason"] === "string" && choice["finish_reason"] !== ""
        ? choice["finish_reason"]
        : undefined;
    // Some servers name "error" as the reason of an answer they could not finish.
    if (finish === "error")
      return { forward: [], error: { kind: "", message: "The provider ended the answer with an error." } };
    this.#finished ||= finish !== undefined;
    const forward = {
      id: textOr(value["id"]),
      created: typeof value["created"] === "number" ? value["created"] : undefined,
      model: textOr(value["model"]),
      choices: choice
        ? [{ delta: this.#delta(asRecord(choice["delta"]) ?? asRecord(choice["message"])), finish_reason: finish }]
        : [],
      usage: asRecord(value["usage"]) ?? undefined,
    };
    return { forward: [forward], ...(finish === undefined ? {} : { terminal: "soft" as const }) };
  }

  done(): Accepted {
    if (this.#finished) return { forward: [], terminal: "hard" };
    return { forward: [{ choices: [{ delta: {}, finish_reason: "stop" }] }], terminal: "hard" };
  }

  #delta(delta: Record<string, unknown> | undefined): Record<string, unknown> {
    if (!delta) return {};
    const reasoning = textOr(delta["reasoning_content"]) ?? textOr(delta["reasoning"]);
    if (reasoning)
      this.#report.reasoningField ??= textOr(delta["reasoning_content"]) ? "reasoning_content" : "reasoning";
    const calls = Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as (RawCallDelta | null)[]) : [];
    const repaired = this.#slots.repair(calls.filter((call): call is RawCallDelta => isPresent(call)));
    return {
      content: typeof delta["content"] === "string" || Array.isArray(delta["content"]) ? delta["content"] : undefined,
      refusal: textOr(delta["refusal"]),
      reasoning_content: reasoning,
      ...(repaired.length > 0 ? { tool_calls: repaired } : {}),
    };
  }
}

class ResponsesProtocol implements StreamProtocol {
  readonly join = joinResponses;

  accept(value: Record<string, unknown>): Accepted {
    switch (value["type"]) {
      case "error":
        return { forward: [], error: readProviderError(value) ?? unworded };
      case "response.failed": {
        const response = asRecord(value["response"]);
        return { forward: [], error: readProviderError(response?.["error"]) ?? unworded };
      }
      case "response.completed":
      case "response.incomplete":
        return { forward: [value], terminal: "hard" };
    }
    const failure = value["type"] === undefined && isPresent(value["error"]) ? readProviderError(value) : undefined;
    return failure ? { forward: [], error: failure } : { forward: [value] };
  }

  done(): Accepted {
    return nothing;
  }
}

const anthropicEvents = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
]);

class AnthropicProtocol implements StreamProtocol {
  readonly join = joinAnthropic;

  accept(value: Record<string, unknown>): Accepted {
    const type = value["type"];
    if (type === "error" || (type === undefined && isPresent(value["error"]))) {
      return { forward: [], error: readProviderError(value) ?? unworded };
    }
    if (typeof type !== "string" || !anthropicEvents.has(type)) return nothing;
    return { forward: [value], ...(type === "message_stop" ? { terminal: "hard" as const } : {}) };
  }

  done(): Accepted {
    return nothing;
  }
}

class GoogleProtocol implements StreamProtocol {
  accept(value: Record<string, unknown>): Accepted {
    const failure = isPresent(value["error"]) ? readProviderError(value) : undefined;
    if (failure) return { forward: [], error: failure };
    const candidate = firstRecord(value["candidates"]);
    const blocked = asRecord(value["promptFeedback"])?.["blockReason"];
    const ends = typeof candidate?.["finishReason"] === "string" || typeof blocked === "string";
    return { forward: [value], ...(ends ? { terminal: "soft" as const } : {}) };
  }

  done(): Accepted {
    return nothing;
  }
}

const unworded: ProviderError = { kind: "", message: "The provider reported an error without any words." };

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && value !== false;
}

function textOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function firstRecord(value: unknown): Record<string, unknown> | undefined {
  return Array.isArray(value) ? asRecord(value[0]) : undefined;
}
