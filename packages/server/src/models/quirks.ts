import type { Fault } from "../run/faults.js";
import type { ModelRequest } from "./port.js";

/** What a model's server was found to refuse; learned from its 400s and remembered (I-88, I-111, I-113, I-120). */
export interface Quirks {
  /** Reasoning and signatures of earlier answers are left out. */
  readonly noReplay?: boolean;
  /** No usage is asked for. */
  readonly noUsageOption?: boolean;
  /** No reasoning summaries are asked for. */
  readonly noSummary?: boolean;
  /** No effort is sent. */
  readonly noEffort?: boolean;
  /** No prompt cache key is sent. */
  readonly noCacheKey?: boolean;
}

const lessons: readonly (readonly [RegExp, Quirks])[] = [
  [
    /signature|encrypted_content|reasoning_content|reasoning_details|redacted_thinking|thinking.{0,20}block|without its required|item with id 'rs_/i,
    { noReplay: true },
  ],
  [/stream_options|include_usage/i, { noUsageOption: true }],
  [/reasoning\.summary|generate reasoning summaries/i, { noSummary: true }],
  [/prompt_cache_key/i, { noCacheKey: true }],
  [
    /reasoning[._]effort|reasoning effort|thinking(?:_config|Config|_level|Level|_budget|Budget)|output_config|effort/i,
    { noEffort: true },
  ],
];

const maxConversations = 1_000;

/**
 * Remembers what was learned: for the model as a whole, except for refused reasoning, which is a matter of the
 * conversation that holds it.
 */
export class QuirkMemory {
  readonly #models = new Map<string, Quirks>();
  readonly #withoutReplay = new Set<string>();

  /** What is known for a request. */
  quirks(request: ModelRequest): Quirks {
    const ofModel = this.#models.get(request.model.id) ?? {};
    return this.#withoutReplay.has(conversationOf(request)) ? { ...ofModel, noReplay: true } : ofModel;
  }

  /** Learns from a refusal; false when it teaches nothing new, so that learning always ends. */
  learn(fault: Fault, request: ModelRequest): boolean {
    if (fault.code !== "model/bad-request") return false;
    const known = this.quirks(request);
    const lesson = lessons.find(
      ([pattern, quirk]) =>
        pattern.test(fault.detail) && Object.keys(quirk).some((name) => !known[name as keyof Quirks]),
    )?.[1];
    if (!lesson) return false;
    if (lesson.noReplay) this.#forgetReplay(conversationOf(request));
    else this.#models.set(request.model.id, { ...this.#models.get(request.model.id), ...lesson });
    return true;
  }

  #forgetReplay(conversation: string): void {
    const [oldest] = this.#withoutReplay;
    if (this.#withoutReplay.size >= maxConversations && oldest !== undefined) this.#withoutReplay.delete(oldest);
    this.#withoutReplay.add(conversation);
  }
}

function conversationOf(request: ModelRequest): string {
  return `${request.model.id}\n${request.cacheKey}`;
}
