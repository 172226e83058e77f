import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { Dispatcher } from "undici";
import { type Fault, FaultError, fault } from "../run/faults.js";
import { convertPrompt } from "./convert-prompt.js";
import type { ModelEntry } from "./directory.js";
import { requestedEffort } from "./effort.js";
import { type FaultSource, missingKeyFault, named, toFault } from "./errors.js";
import { estimateUsage } from "./estimate.js";
import { createStreamReport, type StreamReport } from "./guard/stream-report.js";
import type { ModelEvent, ModelRequest, ProviderType } from "./port.js";
import type { ProviderAdapter } from "./providers/adapter.js";
import { anthropicAdapter } from "./providers/anthropic.js";
import { googleAdapter } from "./providers/google.js";
import { openaiAdapter } from "./providers/openai.js";
import { compatibleNamespace, openaiCompatibleAdapter } from "./providers/openai-compatible.js";
import type { Quirks } from "./quirks.js";
import { type Metadata, PartReader } from "./read-parts.js";
import { providerSchema } from "./schema.js";
import { createToolIds, toolIdStyle } from "./tool-ids.js";
import { createToolNames, type ToolNames } from "./tool-names.js";
import { createVendorFetch } from "./transport.js";

const adapters: Readonly<Record<ProviderType, ProviderAdapter>> = {
  openai: openaiAdapter,
  anthropic: anthropicAdapter,
  google: googleAdapter,
  "openai-compatible": openaiCompatibleAdapter,
};

/** One attempt at one model. */
export interface Attempt {
  readonly entry: ModelEntry;
  readonly request: ModelRequest;
  readonly quirks: Quirks;
  readonly source: FaultSource;
  readonly dispatcher: Dispatcher;
}

/**
 * Calls the provider once, without any retry. Ends by `ended` or throws FaultError; on abort throws the reason.
 * The connection is closed when the signal aborts, a limit runs out, or the consumer stops reading.
 */
export async function* streamPass(attempt: Attempt, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted();
  const { entry, source, dispatcher } = attempt;
  const problem = configurationProblem(entry, source);
  if (problem) throw new FaultError(problem);
  const report = createStreamReport();
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const { type, timeouts } = entry.provider;
  const transport = createVendorFetch({ type, source, report, timeouts, dispatcher, signal, controller });
  try {
    const names = createToolNames(attempt.request.tools.map((tool) => tool.name));
    const { parts, outputLimit } = await openStream(attempt, names, transport.fetch, controller.signal);
    const reader = createReader(attempt, names, report, outputLimit);
    let failure: unknown;
    for await (const part of readAll(parts, controller.signal)) {
      if (part.type === "error") failure ??= part.error;
      // A stream that broke gives out no more calls: they may be cut (I-84).
      else if (!(report.fault && part.type === "tool-call")) yield* reader.accept(part);
    }
    signal.throwIfAborted();
    const known = report.fault ?? (failure === undefined ? undefined : toFault(failure, source));
    if (known) {
      yield* reader.cut();
      throw new FaultError(known, safeCause(failure, source));
    }
    if (!report.terminal) {
      yield* reader.cut();
      throw new FaultError(named(source, "model/truncated", "The answer ended without its end mark."));
    }
    if (isEmpty(reader)) throw new FaultError(named(source, "model/empty", "The answer holds no text and no call."));
    yield* reader.end();
  } catch (error) {
    signal.throwIfAborted();
    throw FaultError.is(error)
      ? error
      : new FaultError(report.fault ?? toFault(error, source), safeCause(error, source));
  } finally {
    signal.removeEventListener("abort", abort);
    transport.stop();
    controller.abort(over);
  }
}

/** One for all: a new reason would collect a stack for every pass. */
const over = new DOMException("The pass is over", "AbortError");

async function openStream(attempt: Attempt, names: ToolNames, fetch: typeof globalThis.fetch, signal: AbortSignal) {
  const { entry, request, quirks } = attempt;
  const adapter = adapters[entry.provider.type];
  const prompt = await convertPrompt({
    request,
    rules: adapter.rules,
    names,
    ids: createToolIds(toolIdStyle(entry.provider.type, entry.info.model, entry.provider.baseURL)),
    replay: !quirks.noReplay,
  });
  const effort = requestedEffort(request.parameters, entry.known?.efforts);
  const opened = adapter.open({ entry, request, prompt, fetch, signal, effort, quirks });
  const options: LanguageModelV3CallOptions = {
    prompt: opened.prompt ?? prompt,
    ...(request.tools.length > 0
      ? { tools: driverTools(request, names, adapter, entry), toolChoice: { type: "auto" } }
      : {}),
    ...(opened.maxOutputTokens === undefined ? {} : { maxOutputTokens: opened.maxOutputTokens }),
    providerOptions: opened.providerOptions,
    abortSignal: signal,
  };
  const { stream } = await opened.model.doStream(options);
  return { parts: stream, outputLimit: opened.outputLimit ?? opened.maxOutputTokens };
}

function driverTools(
  request: ModelRequest,
  names: ToolNames,
  adapter: ProviderAdapter,
  entry: ModelEntry,
): LanguageModelV3CallOptions["tools"] {
  return request.tools.slice(0, adapter.maxTools).map((tool) => ({
    type: "function",
    name: names.toProvider(tool.name),
    description: tool.description,
    inputSchema: providerSchema(tool.parameters, entry.provider.type),
    ...(adapter.strictTools === undefined ? {} : { strict: adapter.strictTools }),
  }));
}

function createReader(
  attempt: Attempt,
  names: ToolNames,
  report: StreamReport,
  outputLimit: number | undefined,
): PartReader {
  const { entry, request } = attempt;
  const { reasoning } = entry.config;
  return new PartReader({
    provider: entry.info.provider,
    model: entry.info.model,
    toOwnName: (name) => names.toOwn(name),
    ...(reasoning?.tags === "think" ? { thinkTags: { implicitOpen: reasoning.implicitOpen === true } } : {}),
    ...(outputLimit === undefined ? {} : { outputLimit }),
    reasoningData: (): Metadata =>
      report.reasoningField === "reasoning" ? { [compatibleNamespace]: { field: "reasoning" } } : {},
    estimateUsage: (characters) => estimateUsage(request, characters),
  });
}

/** Reads a stream until its end; an abort ends it at once, whatever the driver is doing. */
async function* readAll(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelV3StreamPart> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    if (signal.aborted) reader.cancel().catch(() => undefined);
  }
}

/** The driver's error without the request it carries: prompts and headers do not belong into logs (I-143). */
function safeCause(error: unknown, { redact }: FaultSource): { cause?: Error } {
  if (!(error instanceof Error)) return {};
  const cause = new Error(redact(error.message));
  cause.name = error.name;
  return { cause };
}

function isEmpty(reader: PartReader): boolean {
  const unified = reader.finish?.reason.unified;
  return !reader.sawContent && unified !== "length" && unified !== "content-filter";
}

function configurationProblem(entry: ModelEntry, source: FaultSource): Fault | undefined {
  const { provider } = entry;
  if (provider.type === "openai-compatible" && (provider.baseURL ?? "") === "") {
    const detail = `The provider "${provider.name}" has no baseURL. Set it in the config file.`;
    return fault("model/bad-request", detail, { provider: provider.name });
  }
  const hasKey = provider.apiKey !== undefined && provider.apiKey !== "";
  const isStandard = provider.baseURL === undefined && provider.headers === undefined;
  return adapters[provider.type].needsKey && isStandard && !hasKey ? missingKeyFault(source) : undefined;
}
