import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider";
import type { ProviderData } from "../run/history.js";
import type { Usage } from "../run/usage.js";
import { ThinkTags } from "./guard/think-tags.js";
import type { ModelEndReason, ModelEvent } from "./port.js";

/** Provider data while it is collected: fields by namespace. */
export type Metadata = { [namespace: string]: { [field: string]: unknown } };
type BlockKind = "text" | "reasoning";

interface OpenBlock {
  readonly kind: BlockKind;
  /** The driver's id; undefined for blocks made from think tags. */
  readonly id: string | undefined;
  metadata: Metadata;
  hasText: boolean;
}

interface OpenCall {
  readonly index: number;
  readonly name: string;
  args: string;
  metadata: Metadata;
  /** Complete as far as the driver knows. */
  closed: boolean;
  sent: boolean;
}

/** How parts are to be read. */
export interface ReadOptions {
  readonly provider: string;
  readonly model: string;
  toOwnName(name: string): string;
  /** Read think tags at the start of the answer (I-89). */
  readonly thinkTags?: { readonly implicitOpen: boolean };
  /** Sent output limit: reaching it means the last call is cut, whatever the provider says (I-99). */
  readonly outputLimit?: number;
  /** Added to reasoning that carries no data of its own, so that its origin is known. */
  reasoningData?(): Metadata;
  /** The usage where the provider reports none (I-88). */
  estimateUsage(outputCharacters: number): Usage;
}

/** How the driver's stream ended. */
export interface Finish {
  readonly reason: LanguageModelV3FinishReason;
  readonly usage: LanguageModelV3Usage;
}

/**
 * Reads the driver's stream parts into our events. Thinking is closed by the first visible text or call. A call
 * is given out when something follows it or the answer has ended properly, because only then it is known not to
 * be cut (I-84, I-99).
 */
export class PartReader {
  readonly #options: ReadOptions;
  readonly #tags: ThinkTags | undefined;
  readonly #calls: OpenCall[] = [];
  readonly #callsById = new Map<string, OpenCall>();
  readonly #metadata = new Map<string, Metadata>();
  #block: OpenBlock | undefined;
  #characters = 0;
  #sawContent = false;
  #finish: Finish | undefined;

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#tags = options.thinkTags ? new ThinkTags(options.thinkTags.implicitOpen) : undefined;
  }

  /** Anything a user could see or a next pass could use. */
  get sawContent(): boolean {
    return this.#sawContent;
  }

  /** Set once the driver reported the end. */
  get finish(): Finish | undefined {
    return this.#finish;
  }

  /** Takes one part; errors are the caller's business. */
  accept(part: LanguageModelV3StreamPart): ModelEvent[] {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#learn(part.id, part.providerMetadata);
        return [];
      case "text-delta":
        return this.#textDelta(part.id, part.delta, part.providerMetadata);
      case "reasoning-delta":
        this.#learn(part.id, part.providerMetadata);
        return this.#delta("reasoning", part.id, part.delta);
      case "text-end":
        this.#learn(part.id, part.providerMetadata);
        return this.#blockEnded("text", part.id);
      case "reasoning-end":
        this.#learn(part.id, part.providerMetadata);
        return this.#reasoningEnded(part.id);
      case "tool-input-start":
        return part.providerExecuted ? [] : this.#callStarted(part.id, part.toolName, part.providerMetadata);
      case "tool-input-delta":
        return this.#callDelta(part.id, part.delta);
      case "tool-call":
        return part.providerExecuted
          ? []
          : this.#callClosed(part.toolCallId, part.toolName, part.input, part.providerMetadata);
      case "finish":
        this.#finish = { reason: part.finishReason, usage: part.usage };
        return [];
      default:
        return [];
    }
  }

  /** The stream broke: what was shown is closed, calls that are not out yet are dropped (I-84). */
  cut(): ModelEvent[] {
    const events = [...this.#flushTags(), ...this.#closeBlock()];
    // Data of half a text would claim the provider's own item for it.
    return events.map((event) => (event.kind === "text-ended" ? { kind: "text-ended" } : event));
  }

  /** The stream ended properly; returns the rest and the `ended` event. */
  end(): ModelEvent[] {
    const events = [...this.#flushTags(), ...this.#closeBlock()];
    const usage = this.#usage();
    const unified = this.#finish?.reason.unified ?? "other";
    const { outputLimit } = this.#options;
    const isCut = unified === "length" || (outputLimit !== undefined && usage.outputTokens >= outputLimit);
    const waiting = this.#calls.filter((call) => !call.sent);
    for (const call of waiting) {
      const isLast = call === waiting.at(-1);
      events.push(this.#sendCall(call, call.closed && !(isCut && isLast)));
    }
    events.push({ kind: "ended", reason: this.#reason(unified, isCut), usage });
    return events;
  }

  #reason(unified: LanguageModelV3FinishReason["unified"], isCut: boolean): ModelEndReason {
    if (isCut) return "length";
    if (unified === "content-filter") return "content-filter";
    // What was sent decides, not what the provider calls it (I-100).
    if (this.#calls.length > 0) return "tool-calls";
    return unified === "stop" || unified === "tool-calls" ? "stop" : "other";
  }

  #textDelta(id: string, delta: string, metadata: SharedV3ProviderMetadata | undefined): ModelEvent[] {
    this.#learn(id, metadata);
    if (!this.#tags) return this.#delta("text", id, delta);
    return this.#tags
      .push(delta)
      .flatMap((piece) => this.#delta(piece.kind, piece.kind === "text" ? id : undefined, piece.text));
  }

  #flushTags(): ModelEvent[] {
    return (this.#tags?.end() ?? []).flatMap((piece) => this.#delta(piece.kind, this.#block?.id, piece.text));
  }

  #delta(kind: BlockKind, id: string | undefined, text: string): ModelEvent[] {
    if (text === "") return [];
    const events: ModelEvent[] = [];
    const changes = this.#block !== undefined && (this.#block.kind !== kind || this.#block.id !== id);
    if (changes) events.push(...this.#closeBlock());
    events.push(...this.#releaseCalls());
    this.#block ??= { kind, id, metadata: {}, hasText: false };
    this.#block.hasText = true;
    this.#characters += text.length;
    this.#sawContent = true;
    events.push(kind === "text" ? { kind: "text-delta", text } : { kind: "reasoning-delta", text });
    return events;
  }

  #blockEnded(kind: BlockKind, id: string): ModelEvent[] {
    return this.#block?.kind === kind && this.#block.id === id ? this.#closeBlock() : [];
  }

  #reasoningEnded(id: string): ModelEvent[] {
    if (this.#block?.kind === "reasoning" && this.#block.id === id) return this.#closeBlock();
    const metadata = this.#take(id);
    // Redacted or encrypted thinking has no words, only data.
    if (!hasValues(metadata)) return [];
    this.#sawContent = true;
    return [...this.#closeBlock(), { kind: "reasoning-ended", provider: this.#tag(metadata) }];
  }

  #closeBlock(): ModelEvent[] {
    const block = this.#block;
    this.#block = undefined;
    if (!block?.hasText) return [];
    const metadata = block.id === undefined ? {} : this.#take(block.id);
    if (block.kind === "reasoning") {
      const own = { ...this.#options.reasoningData?.(), ...metadata };
      return [{ kind: "reasoning-ended", provider: this.#tag(own) }];
    }
    return [hasValues(metadata) ? { kind: "text-ended", provider: this.#tag(metadata) } : { kind: "text-ended" }];
  }

  #callStarted(id: string, name: string, metadata: SharedV3ProviderMetadata | undefined): ModelEvent[] {
    const events = [...this.#flushTags(), ...this.#closeBlock(), ...this.#releaseCalls()];
    const call: OpenCall = {
      index: this.#calls.length,
      name: this.#options.toOwnName(name),
      args: "",
      metadata: merged({}, metadata),
      closed: false,
      sent: false,
    };
    this.#calls.push(call);
    this.#callsById.set(id, call);
    this.#sawContent = true;
    events.push({ kind: "call-started", index: call.index, name: call.name });
    return events;
  }

  #callDelta(id: string, delta: string): ModelEvent[] {
    const call = this.#callsById.get(id);
    if (!call || call.closed || delta === "") return [];
    call.args += delta;
    this.#characters += delta.length;
    return [{ kind: "call-delta", index: call.index, argsDelta: delta }];
  }

  #callClosed(id: string, name: string, input: string, metadata: SharedV3ProviderMetadata | undefined): ModelEvent[] {
    const events: ModelEvent[] = [];
    let call = this.#callsById.get(id);
    if (!call || call.closed) {
      events.push(...this.#callStarted(id, name, metadata));
      call = this.#callsById.get(id);
    }
    if (!call) return events;
    call.args = input;
    call.metadata = merged(call.metadata, metadata);
    call.closed = true;
    return events;
  }

  /** Something follows, so the calls before it are whole. */
  #releaseCalls(): ModelEvent[] {
    return this.#calls.filter((call) => call.closed && !call.sent).map((call) => this.#sendCall(call, true));
  }

  #sendCall(call: OpenCall, complete: boolean): ModelEvent {
    call.sent = true;
    const { index, name, metadata } = call;
    const provider = hasValues(metadata) ? { provider: this.#tag(metadata) } : {};
    return { kind: "call", index, name, args: argumentsOf(call.args), ...provider, complete };
  }

  #learn(id: string, metadata: SharedV3ProviderMetadata | undefined): void {
    if (metadata) this.#metadata.set(id, merged(this.#metadata.get(id) ?? {}, metadata));
  }

  #take(id: string): Metadata {
    const metadata = this.#metadata.get(id) ?? {};
    this.#metadata.delete(id);
    return metadata;
  }

  #tag(metadata: Metadata): ProviderData {
    const { provider, model } = this.#options;
    return { provider, model, data: metadata as ProviderData["data"] };
  }

  #usage(): Usage {
    const usage = this.#finish?.usage;
    const { total, noCache, cacheRead = 0, cacheWrite = 0 } = usage?.inputTokens ?? {};
    const output = usage?.outputTokens.total;
    if (!usage || (!total && !noCache && !output)) return this.#options.estimateUsage(this.#characters);
    return {
      inputTokens: noCache ?? Math.max(0, (total ?? 0) - cacheRead - cacheWrite),
      outputTokens: output ?? 0,
      cacheReadTokens: cacheRead,
      cacheWriteTokens: cacheWrite,
      reasoningTokens: usage.outputTokens.reasoning ?? 0,
    };
  }
}

/** What a model writes for a call without arguments (I-97). */
const noArguments = new Set(["", "null", '""', '"null"', '"{}"']);

function argumentsOf(raw: string): string {
  return noArguments.has(raw.trim()) ? "{}" : raw;
}

function merged(before: Metadata, more: SharedV3ProviderMetadata | undefined): Metadata {
  const result: Metadata = { ...before };
  for (const [namespace, fields] of Object.entries(more ?? {})) {
    const known = { ...result[namespace] };
    for (const [field, value] of Object.entries(fields))
      if (value !== null && value !== undefined) known[field] = value;
    result[namespace] = known;
  }
  return result;
}

function hasValues(metadata: Metadata): boolean {
  return Object.values(metadata).some((fields) => Object.keys(fields).length > 0);
}
