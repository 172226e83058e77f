import type { AgentServerMessage } from "@keyturn/protocol/agent";
import type { ServerError } from "./refusal.js";

/** How one stream ended: as the server said, or broken without a word. */
export type StreamEnd =
  | { readonly kind: "completed" }
  | { readonly kind: "error"; readonly error: ServerError }
  | { readonly kind: "broken"; readonly why: string };

/** What arrives on a stream, in order; after `end` nothing more. */
export interface StreamListener {
  message(message: AgentServerMessage, bytes: Uint8Array): void;
  end(end: StreamEnd): void;
}

/** What to open. */
export interface StreamRequest {
  readonly requestId: string;
  /** Only what comes after it in the log of the run is sent; 0 for everything. */
  readonly position: number;
}

/** One stream of a run, as the client holds it. */
export interface RunStream {
  /** Sends a client message in the stream itself; only over HTTP/2. The server numbers them from 0, signs of life apart. */
  send?(message: Uint8Array): void;
  /** Lets the server wait: nothing is read until `resume`. */
  pause(): void;
  resume(): void;
  /** Goes away without a word. The listener hears nothing any more. */
  close(): void;
}

/** One way to speak with a server. */
export interface Transport {
  readonly name: "http1" | "http2" | "poll";
  /**
   * Opens the stream of a run; resolves once the server has accepted it. Rejects with `ServerRefusal`, or with the system's
   * error when there is no connection.
   */
  open(request: StreamRequest, listener: StreamListener, signal: AbortSignal): Promise<RunStream>;
  /**
   * Sends one client message beside the stream; resolves when the server has it on disk. Rejects as `open` does. The
   * same number with the same bytes has one effect, however often it is sent. Missing over HTTP/2.
   */
  append?(requestId: string, number: number, message: Uint8Array, signal: AbortSignal): Promise<void>;
}

/** Where the server is, and who comes in. */
export interface ServerAddress {
  /** `http://127.0.0.1:8484`; a path is ignored. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A connection that never was, or was lost, as one line for a person. */
export function describeFailure(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { code } = cause as NodeJS.ErrnoException;
  switch (code) {
    case "ECONNREFUSED":
      return "nothing listens there";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the host name is not known";
    case "ECONNRESET":
    case "EPIPE":
      return "the connection was cut";
    case "ETIMEDOUT":
      return "it does not answer";
    default:
      // A list of attempts (IPv6, IPv4) has no words of its own.
      return (
        cause.message || (cause instanceof AggregateError ? describeFailure(cause.errors[0]) : (code ?? cause.name))
      );
  }
}
