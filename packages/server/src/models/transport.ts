import { Agent, type Dispatcher, fetch as undiciFetch } from "undici";
import { type FaultSource, named } from "./errors.js";
import { guardStream } from "./guard/guard-stream.js";
import type { StreamReport } from "./guard/stream-report.js";
import type { ProviderTimeouts, ProviderType } from "./port.js";

/** The fetch the drivers take. */
export type VendorFetch = typeof globalThis.fetch;

const defaultTimeouts: Required<ProviderTimeouts> = {
  connectMs: 10_000,
  firstByteMs: 600_000,
  idleMs: 300_000,
  totalMs: 0,
};

/**
 * A connection pool for one provider. Its own header and body limits are off: the watchdog of each request
 * keeps time, so no hidden limit cuts a model that thinks silently (I-124).
 */
export function createDispatcher(timeouts: ProviderTimeouts = {}): Dispatcher {
  const { connectMs } = { ...defaultTimeouts, ...timeouts };
  return new Agent({ connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0 });
}

/** What a request's fetch needs to know. */
export interface TransportOptions {
  readonly type: ProviderType;
  readonly source: FaultSource;
  readonly report: StreamReport;
  readonly timeouts: ProviderTimeouts | undefined;
  readonly dispatcher: Dispatcher;
  /** The caller's signal: the reason of a deliberate end. */
  readonly signal: AbortSignal;
  /** Ends this request; aborted by the caller's signal, the watchdog and the end of the pass. */
  readonly controller: AbortController;
}

/** A fetch for one request, with time limits and the stream guard; failures are noted in the report. */
export function createVendorFetch(options: TransportOptions): { fetch: VendorFetch; stop(): void } {
  const { report, source, controller } = options;
  const watchdog = new Watchdog({ ...defaultTimeouts, ...options.timeouts }, (what, limitMs) => {
    report.fault ??= named(source, "model/timeout", `The provider ${what} within ${limitMs / 1_000} s.`);
    controller.abort(new Error("The provider took too long."));
  });
  const fetch: VendorFetch = async (input, init) => {
    watchdog.start();
    report.terminal = false;
    const response = (await undiciFetch(input as string, {
      ...(init as Parameters<typeof undiciFetch>[1]),
      signal: controller.signal,
      dispatcher: options.dispatcher,
      // A redirect would carry the key headers to another host.
      redirect: "manual",
    })) as unknown as Response;
    if (!response.ok || !response.body) return response;
    const { type, signal } = options;
    const body = guardStream(response.body, { type, source, report, signal, watch: watchdog });
    return new Response(body, { status: response.status, headers: withoutLength(response.headers) });
  };
  return { fetch, stop: () => watchdog.stop() };
}

function withoutLength(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete("content-length");
  kept.delete("content-encoding");
  return kept;
}

/** Keeps the time limits of one request. A limit of 0 is off. */
class Watchdog {
  readonly #limits: Required<ProviderTimeouts>;
  readonly #expire: (what: string, limitMs: number) => void;
  #step: NodeJS.Timeout | undefined;
  #total: NodeJS.Timeout | undefined;
  #sawBytes = false;

  constructor(limits: Required<ProviderTimeouts>, expire: (what: string, limitMs: number) => void) {
    this.#limits = limits;
    this.#expire = expire;
  }

  start(): void {
    this.stop();
    this.#sawBytes = false;
    this.#step = this.#timer("sent no answer", this.#limits.firstByteMs);
    this.#total = this.#timer("did not finish", this.#limits.totalMs);
  }

  waiting(): void {
    // Headers may come at once and the first byte much later: that is still the wait for the first byte.
    if (!this.#sawBytes) return;
    clearTimeout(this.#step);
    this.#step = this.#timer("sent nothing more", this.#limits.idleMs);
  }

  arrived(): void {
    this.#sawBytes = true;
    clearTimeout(this.#step);
  }

  stop(): void {
    clearTimeout(this.#step);
    clearTimeout(this.#total);
  }

  #timer(what: string, limitMs: number): NodeJS.Timeout | undefined {
    return limitMs > 0 ? setTimeout(() => this.#expire(what, limitMs), limitMs) : undefined;
  }
}
