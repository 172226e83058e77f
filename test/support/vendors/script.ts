import type { IncomingHttpHeaders } from "node:http";

/** A JSON object as a request or response body holds it. */
export type JsonObject = { [key: string]: unknown };

/** The vendors that can be faked. */
export type VendorType = "openai" | "anthropic" | "google" | "openai-compatible";

/** A tool call the fake model makes. */
export interface ScriptedCall {
  name: string;
  /** Arguments as an object, or the raw text the model writes. */
  args: unknown;
  id?: string;
}

/** One answer. Content is streamed in the order thinking, text, calls. */
export interface ScriptedAnswer {
  text?: string;
  thinking?: string;
  calls?: ScriptedCall[];
  usage?: { input?: number; output?: number; cacheRead?: number; reasoning?: number };
  /** The vendor's own word for the end, such as "length" or "max_tokens". */
  finish?: string;
  /** Anything but 200 answers with the vendor's error shape, or with `body`. */
  status?: number;
  /** Error code or type that goes with `status`. */
  error?: { type?: string; message?: string };
  headers?: Record<string, string>;
  /** Raw bytes instead of the scripted content, chunk by chunk. */
  body?: (string | Uint8Array)[];
  /** Wait before the headers are sent. */
  delayMs?: number;
  /** Content is sent, the end never comes. */
  hang?: boolean;
  /** How the stream ends instead of properly: by a broken connection or by a plain end without an end mark. */
  ending?: "cut" | "eof";
  /** Deltas a text is cut into; default 3. */
  deltaCount?: number;
  /** Content is sent, the end waits for this. */
  holdUntil?: Promise<unknown>;
  /** Size of the chunks the whole stream is cut into, regardless of characters. */
  chunkBytes?: number;
}

/** A request as the vendor received it. */
export interface CapturedRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

/** What the vendor answers: one entry a request, or a function of the request and its number from 0. */
export type VendorScript = readonly ScriptedAnswer[] | ((request: CapturedRequest, index: number) => ScriptedAnswer);

/** A refusal in the vendor's error shape. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** The part of a fake that knows one vendor's protocol. */
export interface VendorProtocol {
  /** Path below the server's root that belongs into a provider's baseURL. */
  readonly basePath: string;
  accepts(path: string): boolean;
  /** Checks what the real vendor would refuse. */
  refuse(request: CapturedRequest): Refusal | undefined;
  /** The content of an answer as events, and the events that end it. */
  events(answer: ScriptedAnswer, request: CapturedRequest): { content: string[]; end: string[] };
  errorBody(refusal: Refusal): JsonObject;
}

/** Cuts a text into deltas of whole characters. */
export function deltas(text: string, count = 3): string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / count));
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
}

/** The raw text of a call's arguments. */
export function argumentsText(call: ScriptedCall): string {
  return typeof call.args === "string" ? call.args : JSON.stringify(call.args);
}

/** A list of objects out of unknown JSON. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value)
    ? value.filter((item): item is JsonObject => typeof item === "object" && item !== null)
    : [];
}

/** A refusal of a bad request. */
export function bad(message: string, type = "invalid_request_error"): Refusal {
  return { status: 400, type, message };
}
