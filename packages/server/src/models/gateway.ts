import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { type Fault, FaultError, fault } from "../run/faults.js";
import { demoModel, streamDemo } from "./demo.js";
import { createModelDirectory, type ModelEntry } from "./directory.js";
import type { FaultSource } from "./errors.js";
import { streamPass } from "./pass.js";
import type { ModelEvent, ModelGateway, ModelInfo, ModelRequest, ModelsConfig } from "./port.js";
import { QuirkMemory } from "./quirks.js";
import { createRedact } from "./redact.js";
import { defaultRetryPolicy, type RetryClock, type RetryPolicy, withRetries } from "./retry.js";
import { createDispatcher } from "./transport.js";

/** What the gateway takes from outside; all have defaults. */
export interface ModelGatewayOptions {
  readonly retry?: Partial<RetryPolicy>;
  readonly clock?: Partial<RetryClock> & { now?(): number };
}

/**
 * Builds the gateway over all configured models; the demo model is always there, as the last one. Connections
 * are kept per provider and close by themselves; a new config means a new gateway.
 */
export function createModelGateway(config: ModelsConfig, options: ModelGatewayOptions = {}): ModelGateway {
  const directory = createModelDirectory(config, demoModel);
  const router = new Router(config, options, (info) => directory.entry(info));
  return {
    models: () => directory.infos,
    resolve: (id) => directory.resolve(id),
    stream(request, signal) {
      const fallbacks = (config.fallbacks?.[request.model.id] ?? []).flatMap((id) => directory.resolve(id) ?? []);
      return router.stream(request, fallbacks, signal);
    },
  };
}

class Router {
  readonly #entryOf: (info: ModelInfo) => ModelEntry | undefined;
  readonly #policy: RetryPolicy;
  readonly #clock: RetryClock & { now(): number };
  readonly #redact;
  readonly #dispatchers = new Map<string, Dispatcher>();
  readonly #memory = new QuirkMemory();

  constructor(
    config: ModelsConfig,
    options: ModelGatewayOptions,
    entryOf: (info: ModelInfo) => ModelEntry | undefined,
  ) {
    this.#entryOf = entryOf;
    this.#policy = { ...defaultRetryPolicy, ...options.retry };
    this.#clock = {
      sleep: (delayMs, signal) => sleep(delayMs, undefined, { signal }),
      random: Math.random,
      now: Date.now,
      ...options.clock,
    };
    this.#redact = createRedact(
      config.providers.flatMap((provider) => [provider.apiKey, ...secretHeaders(provider.headers)]),
    );
  }

  /** The model asked for, then its fallbacks, each with its own retries, until one has given out something. */
  async *stream(
    request: ModelRequest,
    fallbacks: readonly ModelInfo[],
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent> {
    const candidates = [request.model, ...fallbacks.filter((model) => model.id !== request.model.id)];
    for (const [index, model] of candidates.entries()) {
      const next = candidates[index + 1];
      let isOut = false;
      try {
        for await (const event of this.#streamOne({ ...request, model }, signal)) {
          isOut ||= event.kind !== "waiting";
          yield event;
        }
        return;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (isOut || !next || !FaultError.is(error) || !canFallBack(error.fault)) throw error;
        const reason = `${error.fault.title}. ${error.fault.detail} Trying ${next.displayName} instead.`;
        yield { kind: "waiting", reason, delayMs: 0 };
      }
    }
  }

  #streamOne(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    if (request.model.providerType === "demo") return streamDemo(request, signal);
    const entry = this.#entryOf(request.model);
    if (!entry) throw new FaultError(fault("model/unknown", `The model "${request.model.id}" is not configured.`));
    const source: FaultSource = {
      provider: entry.provider.name,
      type: entry.provider.type,
      model: entry.info.model,
      redact: this.#redact,
      now: () => this.#clock.now(),
    };
    const dispatcher = this.#dispatcher(entry);
    const { policy, clock } = { policy: this.#policy, clock: this.#clock };
    return withRetries(
      () => streamPass({ entry, request, quirks: this.#memory.quirks(request), source, dispatcher }, signal),
      {
        policy,
        clock,
        signal,
        onFailure: (failure) => (this.#memory.learn(failure, request) ? "retry-now" : "default"),
      },
    );
  }

  #dispatcher(entry: ModelEntry): Dispatcher {
    const { name, timeouts } = entry.provider;
    let dispatcher = this.#dispatchers.get(name);
    if (!dispatcher) {
      dispatcher = createDispatcher(timeouts);
      this.#dispatchers.set(name, dispatcher);
    }
    return dispatcher;
  }
}

/** Another model cannot help where the request itself is wrong, and too long a conversation must be shortened first. */
function canFallBack({ code }: Fault): boolean {
  return code !== "model/bad-request" && code !== "model/context-overflow" && code !== "model/filtered";
}

function secretHeaders(headers: Record<string, string> | undefined): string[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    /auth|key|token|secret|cookie/i.test(name) ? [value] : [],
  );
}
