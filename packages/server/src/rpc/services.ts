import type { RunHost } from "../engine/host.js";
import type { Classify } from "./client-class.js";
import type { Exchange } from "./exchange.js";
import type { BlobSink, ConversationNotes, ModelList, TransportReports } from "./ports.js";
import type { BodyReader } from "./read-body.js";

/** What the transport needs of the rest of the server. */
export interface RpcServices {
  readonly host: Pick<RunHost, "append" | "subscribe">;
  readonly models: ModelList;
  readonly conversations: ConversationNotes;
  readonly blobs: BlobSink;
  readonly classify: Classify;
  readonly bodies: BodyReader;
  readonly reports: TransportReports;
  /** Largest append, as it arrives. */
  readonly maxBodyBytes: number;
  /** How long a reader may take no byte before its connection is cut. */
  readonly stallMs: number;
  /** Whether clients are told to prefer HTTP/2. */
  readonly preferHttp2: boolean;
  readonly version: string;
}

/** Answers one call. Throws for an error that is still to be told to the client. */
export type Call = (exchange: Exchange) => Promise<void>;
