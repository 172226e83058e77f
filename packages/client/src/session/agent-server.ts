import { fromBinary } from "@bufbuild/protobuf";
import { GetServerConfigResponseSchema, Http2Config } from "@keyturn/protocol/aiserver";
import { type HttpAnswer, refusalOf } from "./http-answer.js";
import { Http1Transport } from "./http1-transport.js";
import { Http2Transport } from "./http2-transport.js";
import { PollTransport } from "./poll-transport.js";
import { foreignAnswer } from "./refusal.js";
import type { ServerAddress, Transport } from "./transport.js";

/** How runs are spoken about: what the server prefers and what works, or one way alone. */
export type TransportChoice = "auto" | Transport["name"];

/** How to reach a server. */
export interface ConnectOptions extends ServerAddress {
  readonly transport?: TransportChoice;
}

/** A server that was reached, and the ways to speak with it. */
export class AgentServer {
  readonly baseUrl: string;
  /** What the server says of itself; empty when it says nothing. */
  readonly version: string;
  /** In the order they are to be tried. */
  readonly transports: readonly Transport[];
  readonly #http1: Http1Transport;

  private constructor(options: ConnectOptions, http1: Http1Transport, version: string, prefersHttp2: boolean) {
    this.baseUrl = options.baseUrl;
    this.version = version;
    this.#http1 = http1;
    const { transport = "auto" } = options;
    const ways = { http1, http2: new Http2Transport(options), poll: new PollTransport(http1) };
    // Polling last: it works wherever a request is answered at all, at the price of a request for every few frames.
    const order = prefersHttp2 ? [ways.http2, ways.http1, ways.poll] : [ways.http1, ways.http2, ways.poll];
    this.transports = transport === "auto" ? order : [ways[transport]];
  }

  /**
   * Asks the server how it wants to be spoken with. Rejects with `ServerRefusal` when it does not take the key or does not speak
   * this protocol, and with the system's error when nothing answers.
   */
  static async connect(options: ConnectOptions): Promise<AgentServer> {
    const http1 = new Http1Transport(options);
    try {
      const answer = await http1.call("/aiserver.v1.ServerConfigService/GetServerConfig", new Uint8Array());
      const { configVersion, http2Config } = configOf(answer);
      const prefersHttp2 =
        http2Config === Http2Config.FORCE_ALL_ENABLED || http2Config === Http2Config.FORCE_BIDI_ENABLED;
      return new AgentServer(options, http1, configVersion, prefersHttp2);
    } catch (cause) {
      // A server without HTTP/1.1 answers in a language that cannot be parsed; the first run finds out the rest.
      if (isOtherProtocol(cause)) return new AgentServer(options, http1, "", true);
      http1.close();
      throw cause;
    }
  }

  /** Lets go of kept connections. Sessions end on their own. */
  close(): void {
    this.#http1.close();
  }
}

function configOf(answer: HttpAnswer) {
  if (answer.status !== 200) throw refusalOf(answer);
  if (answer.contentType !== "application/proto")
    throw foreignAnswer(answer.status, "What answers there is no agent server.");
  return fromBinary(GetServerConfigResponseSchema, answer.body);
}

function isOtherProtocol(cause: unknown): boolean {
  return cause instanceof Error && ((cause as NodeJS.ErrnoException).code ?? "").startsWith("HPE_");
}
