import { type FaultSource, named, networkFault, providerFault, readProviderError } from "../errors.js";
import type { ProviderType } from "../port.js";
import { type Accepted, createStreamProtocol } from "./protocols.js";
import { type SseEvent, SseFramer } from "./sse-framer.js";
import type { StreamReport } from "./stream-report.js";

/** What the guard needs beside the bytes. */
export interface GuardOptions {
  readonly type: ProviderType;
  readonly source: FaultSource;
  readonly report: StreamReport;
  /** Aborted: the stream errors with the reason; every other failure goes to the report. */
  readonly signal: AbortSignal;
  /** Told before and after each wait for bytes, so that a slow consumer never counts as a silent provider. */
  readonly watch?: { waiting(): void; arrived(): void };
  /** How long to wait for usage after a whole answer; default 5 s. */
  readonly afterEndMs?: number;
}

type Forwarded = Accepted["forward"][number];

const rawKeptBytes = 4_096;

/**
 * Stands between a vendor's bytes and the driver's parser: passes on well-formed events only, drops keepalives
 * (I-81), and notes errors inside the stream (I-83), cuts and ends without an end (I-84, I-85) in the report.
 */
export function guardStream(body: ReadableStream<Uint8Array>, options: GuardOptions): ReadableStream<Uint8Array> {
  const guard = new StreamGuard(body, options);
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => guard.pull(controller),
      cancel: (reason) => guard.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

class StreamGuard {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #options: GuardOptions;
  readonly #framer = new SseFramer();
  readonly #protocol;
  readonly #encoder = new TextEncoder();
  #raw = Buffer.alloc(0);
  #ended = false;

  constructor(body: ReadableStream<Uint8Array>, options: GuardOptions) {
    this.#reader = body.getReader();
    this.#options = options;
    this.#protocol = createStreamProtocol(options.type, options.report);
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { signal, report } = this.#options;
    try {
      for (;;) {
        const read = await this.#read();
        if (read === undefined || read.done) {
          const clean = read?.done ? this.#frame(() => this.#framer.end(), true) : "";
          if (!report.terminal && !report.fault) report.fault = this.#cutFault();
          this.#finish(controller, clean);
          return;
        }
        this.#remember(read.value);
        const clean = this.#frame(() => this.#framer.push(read.value), false);
        if (report.fault || this.#ended) {
          this.#finish(controller, clean);
          return;
        }
        if (clean !== "") {
          controller.enqueue(this.#encoder.encode(clean));
          return;
        }
      }
    } catch (error) {
      if (signal.aborted) {
        controller.error(signal.reason);
        return;
      }
      // A cut after the answer's end takes nothing away.
      if (!report.terminal) report.fault ??= this.#brokenFault(error);
      this.#finish(controller, "");
    }
  }

  async cancel(reason: unknown): Promise<void> {
    await this.#reader.cancel(reason);
  }

  /** Undefined when the answer is whole and nothing more came in time. */
  async #read(): Promise<Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>> | undefined> {
    const { report, watch } = this.#options;
    if (!report.terminal) {
      watch?.waiting();
      const read = await this.#reader.read();
      watch?.arrived();
      return read;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#options.afterEndMs ?? 5_000);
      timer.unref();
    });
    const read = this.#reader.read();
    read.catch(() => undefined);
    try {
      return await Promise.race([read, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #finish(controller: ReadableStreamDefaultController<Uint8Array>, clean: string): void {
    if (clean !== "") controller.enqueue(this.#encoder.encode(clean));
    controller.close();
    void this.#drain();
  }

  // Reading to the end keeps the connection usable; a server that does not end is cut off.
  async #drain(): Promise<void> {
    try {
      const rest = this.#options.report.fault ? undefined : await this.#read();
      if (!rest?.done) await this.#reader.cancel();
    } catch {
      // The connection is gone, which is all that is wanted here.
    }
  }

  #frame(frame: () => SseEvent[], atEnd: boolean): string {
    const { report, source } = this.#options;
    let events: SseEvent[];
    try {
      events = frame();
    } catch (error) {
      report.fault = named(source, "model/garbled", (error as Error).message);
      return "";
    }
    const values: Forwarded[] = [];
    for (const event of events) {
      if (report.fault || this.#ended) break;
      for (const value of this.#accept(event, atEnd)) {
        const last = values.at(-1);
        const joined = last && this.#protocol.join?.(last, value);
        if (joined) values[values.length - 1] = joined;
        else values.push(value);
      }
    }
    return values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("");
  }

  #accept(event: SseEvent, atEnd: boolean): readonly Forwarded[] {
    const { report, source } = this.#options;
    const data = event.data.trim();
    if (data === "" || data.startsWith(":") || event.event === "ping") return [];
    if (data === "[DONE]") return this.#apply(this.#protocol.done());
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      // The last event of a cut stream is half an event: the end is what went wrong.
      if (atEnd) return [];
      report.fault =
        event.event === "error"
          ? providerFault({ kind: "", message: data }, source)
          : named(source, "model/garbled", `The provider sent an event that is not JSON: ${data.slice(0, 200)}`);
      return [];
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    report.events += 1;
    return this.#apply(this.#protocol.accept(value as Record<string, unknown>));
  }

  #apply(accepted: Accepted): readonly Forwarded[] {
    const { report, source } = this.#options;
    // An error after a whole answer takes nothing away.
    if (accepted.error && !report.terminal) report.fault = providerFault(accepted.error, source);
    if (accepted.terminal) report.terminal = true;
    if (accepted.terminal === "hard") this.#ended = true;
    return accepted.forward;
  }

  #remember(bytes: Uint8Array): void {
    if (this.#options.report.events === 0 && this.#raw.length < rawKeptBytes) {
      this.#raw = Buffer.concat([this.#raw, bytes]).subarray(0, rawKeptBytes);
    }
  }

  #cutFault() {
    const { report, source } = this.#options;
    if (report.events > 0) {
      return named(source, "model/truncated", "The provider closed the stream before the answer was finished.");
    }
    const text = this.#raw.toString("utf8").trim();
    // No event at all: a plain JSON error or a web page under a 200.
    if (text.startsWith("{") || text.startsWith("[")) {
      const worded = readProviderError(tryParse(text));
      if (worded) return providerFault(worded, source);
    }
    if (/^(?:<!doctype|<html)/i.test(text)) {
      return named(source, "model/garbled", "The provider answered with a web page instead of a stream.");
    }
    return named(source, "model/truncated", "The provider closed the stream without sending anything.");
  }

  #brokenFault(error: unknown) {
    const { source } = this.#options;
    const network = networkFault(error, source);
    if (network?.code === "model/timeout") return network;
    const words = error instanceof Error ? error.message : "unknown cause";
    return named(source, "model/truncated", `The connection broke in the middle of the answer (${words}).`);
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
