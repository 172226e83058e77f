import type { AgentServerMessage } from "@keyturn/protocol/agent";
import type { SessionClock } from "./clock.js";
import { ServerRefusal } from "./refusal.js";
import { describeFailure, type RunStream, type StreamEnd, type StreamRequest, type Transport } from "./transport.js";

/** How one attempt to be connected ended. */
export type AttachmentEnd =
  | StreamEnd
  /** Nothing at all was heard, not even a heartbeat. */
  | { readonly kind: "silent"; readonly why: string }
  | { readonly kind: "refused"; readonly refusal: ServerRefusal }
  /** There was no connection at all. */
  | { readonly kind: "unreachable"; readonly why: string; readonly isMismatch: boolean };

/** What an attachment works with. */
export interface AttachmentOptions {
  readonly transport: Transport;
  readonly request: StreamRequest;
  readonly clock: SessionClock;
  /** So long nothing at all may be heard, from the attempt on. */
  readonly stallMs: number;
  readonly connected: (stream: RunStream) => void;
  readonly message: (message: AgentServerMessage, bytes: Uint8Array) => void;
}

/** One connection to a run, from the attempt to its end. */
export class Attachment {
  readonly ended: Promise<AttachmentEnd>;
  readonly #options: AttachmentOptions;
  readonly #abort = new AbortController();
  #settle: (end: AttachmentEnd) => void = () => {};
  #isOver = false;
  #stream: RunStream | undefined;
  #forgetStall: (() => void) | undefined;
  #isPaused = false;
  #hasHeard = false;

  constructor(options: AttachmentOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#watch();
    void this.#open();
  }

  /** Ends it from this side. */
  close(why: string): void {
    this.#end({ kind: "broken", why });
  }

  /** Stops reading, or goes on. While nothing is read, silence means nothing. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.#stream?.pause();
    else this.#stream?.resume();
    this.#watch();
  }

  async #open(): Promise<void> {
    const { transport, request, connected, message } = this.#options;
    const listener = {
      message: (of: AgentServerMessage, bytes: Uint8Array) => {
        if (this.#isOver) return;
        this.#hasHeard = true;
        this.#watch();
        message(of, bytes);
      },
      end: (end: StreamEnd) => this.#end(end),
    };
    try {
      const stream = await transport.open(request, listener, this.#abort.signal);
      if (this.#isOver) return stream.close();
      this.#stream = stream;
      this.#watch();
      connected(stream);
    } catch (cause) {
      if (cause instanceof ServerRefusal) return this.#end({ kind: "refused", refusal: cause });
      this.#end({ kind: "unreachable", why: describeFailure(cause), isMismatch: speaksOtherProtocol(cause) });
    }
  }

  #watch(): void {
    this.#forgetStall?.();
    this.#forgetStall = undefined;
    if (this.#isOver || this.#isPaused) return;
    const { clock, stallMs } = this.#options;
    this.#forgetStall = clock.after(stallMs, () => {
      const why = `nothing was heard for ${Math.round(stallMs / 1000)} s`;
      this.#end({ kind: this.#hasHeard ? "broken" : "silent", why });
    });
  }

  #end(end: AttachmentEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#forgetStall?.();
    this.#abort.abort();
    this.#stream?.close();
    this.#settle(end);
  }
}

/** The other side answered in a language of its own: perhaps the other version of HTTP. */
function speaksOtherProtocol(cause: unknown): boolean {
  const code = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? "") : "";
  return code.startsWith("HPE_") || code.startsWith("ERR_HTTP2");
}
