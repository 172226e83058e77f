import { randomUUID } from "node:crypto";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { ClientMessageInit } from "@keyturn/client";
import {
  AgentClientMessageSchema,
  type AgentServerMessage,
  BidiRequestIdSchema,
  type ExecClientMessageSchema,
  type ExecServerMessage,
} from "@keyturn/protocol/agent";
import { BidiAppendRequestSchema } from "@keyturn/protocol/aiserver";
import { encodeClientMessage, encodeEnvelope, encodeHex } from "@keyturn/protocol/codec";
import { type Answer, exchange } from "./post.js";
import { openRun, openRunSse, type RunStream, type StreamEnd } from "./run-stream.js";

export type { ClientMessageInit } from "@keyturn/client";
/** The answer to an execution as a plain literal. */
export type ExecAnswer = NonNullable<MessageInitShape<typeof ExecClientMessageSchema>["message"]>;

/** How a session is opened. */
export interface SessionOptions {
  readonly baseUrl: string;
  /** An API key or an access token. */
  readonly bearer: string;
  readonly requestId?: string;
  /** `sse`: RunSSE and BidiAppend over HTTP/1.1. `bidi`: Run over HTTP/2. */
  readonly transport?: "sse" | "bidi";
  readonly headers?: Readonly<Record<string, string>>;
  /** The first append number. */
  readonly firstNumber?: number;
  /** The blobs this client holds, by id in hex; the server's are added to it. False leaves blob requests unanswered. */
  readonly blobs?: Map<string, Uint8Array> | false;
  /** Answers an execution with its results in order; undefined leaves it unanswered. */
  readonly onExec?: (message: ExecServerMessage) => readonly ExecAnswer[] | undefined;
}

/**
 * One run on the bare wire, with everything the client library's session hides from its users: statuses and headers,
 * frames as bytes, append numbers of the test's choice, a stream that stays broken. What the server sends is an async
 * iterable, what the client sends are appends; blob requests are answered by themselves, executions through `onExec`.
 */
export class Session implements AsyncIterable<AgentServerMessage>, AsyncDisposable {
  readonly requestId: string;
  /** Every frame so far, as the bytes that arrived. */
  readonly frames: Uint8Array[] = [];
  readonly messages: AgentServerMessage[] = [];
  /** How the stream ended; pending while it is open. */
  readonly ended: Promise<StreamEnd>;
  readonly #options: SessionOptions;
  #stream: RunStream | undefined;
  #number: number;
  #isOver = false;
  #wake: (() => void)[] = [];
  #end: (end: StreamEnd) => void = () => {};
  #failure: unknown;

  private constructor(options: SessionOptions) {
    this.#options = options;
    this.#number = options.firstNumber ?? 0;
    this.requestId = options.requestId ?? randomUUID();
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Opens the stream; resolves at the response's headers. */
  static async open(options: SessionOptions): Promise<Session> {
    const session = new Session(options);
    await session.#open();
    return session;
  }

  /** A session without a stream: only for sending appends. */
  static detached(options: SessionOptions): Session {
    return new Session(options);
  }

  /** The stream's status and headers. Throws for a detached session. */
  get stream(): RunStream {
    if (!this.#stream) throw new Error("the session has no stream");
    return this.#stream;
  }

  /** Sends a message under the next number, or in the stream over HTTP/2; rejects when it is refused. */
  async send(message: ClientMessageInit): Promise<void> {
    const bytes = encodeClientMessage(create(AgentClientMessageSchema, { message }));
    if (this.#options.transport === "bidi") return this.stream.send?.(bytes);
    const answer = await this.append(this.#number++, bytes);
    if (answer.status !== 200) throw new Error(`append refused: HTTP ${answer.status} ${answer.body.toString()}`);
  }

  /** Sends bytes under a number of the caller's choice and gives the raw answer. */
  append(number: number, bytes: Uint8Array): Promise<Answer> {
    const request = { requestId: { requestId: this.requestId }, appendSeqno: BigInt(number), data: encodeHex(bytes) };
    return exchange(this.#options.baseUrl, {
      path: "/aiserver.v1.BidiService/BidiAppend",
      headers: { ...this.#headers(), "content-type": "application/proto" },
      body: toBinary(BidiAppendRequestSchema, create(BidiAppendRequestSchema, request)),
    });
  }

  /** Starts a run with a user message. */
  ask(text: string, more: { conversationId?: string; model?: string } = {}): Promise<void> {
    return this.send(userMessage(text, more));
  }

  /** The first message, also of those that came before, that fits. Rejects when the stream ends without one. */
  async until(fits: (message: AgentServerMessage) => boolean): Promise<AgentServerMessage> {
    for await (const message of this) if (fits(message)) return message;
    throw new Error(`the stream ended before the message came: ${JSON.stringify(await this.ended)}`);
  }

  /** Every message from the first one on; ends with the stream. Rejects when an answer of this client was refused. */
  async *[Symbol.asyncIterator](): AsyncGenerator<AgentServerMessage> {
    for (let index = 0; ; index++) {
      while (index >= this.messages.length) {
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#isOver) return;
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
      yield this.messages[index] as AgentServerMessage;
    }
  }

  /** The text of all text deltas so far. */
  get text(): string {
    return this.messages.map(textOf).join("");
  }

  /** Goes away as a client does that cancels: by closing its stream. */
  close(): void {
    this.#stream?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #open(): Promise<void> {
    const { baseUrl, transport } = this.#options;
    const open = transport === "bidi" ? openRun : openRunSse;
    const body = toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId: this.requestId }));
    const request = { baseUrl, headers: this.#headers(), body: encodeEnvelope(0, body) };
    this.#stream = await open(request, {
      message: (message, bytes) => this.#take(message, bytes),
      end: (end) => {
        this.#isOver = true;
        this.#end(end);
        this.#wakeAll();
      },
    });
  }

  #headers(): Record<string, string> {
    const { bearer, headers } = this.#options;
    return { authorization: `Bearer ${bearer}`, "x-request-id": this.requestId, ...headers };
  }

  #take(message: AgentServerMessage, bytes: Uint8Array): void {
    this.messages.push(message);
    this.frames.push(bytes);
    this.#wakeAll();
    this.#answer(message).catch((error: unknown) => {
      this.#failure ??= error;
      this.#wakeAll();
    });
  }

  async #answer({ message: of }: AgentServerMessage): Promise<void> {
    const { blobs = new Map<string, Uint8Array>(), onExec } = this.#options;
    if (of.case === "kvServerMessage" && blobs !== false) {
      const { id, message } = of.value;
      if (message.case === "setBlobArgs") {
        blobs.set(encodeHex(message.value.blobId), message.value.blobData);
        await this.send({ case: "kvClientMessage", value: { id, message: { case: "setBlobResult", value: {} } } });
      } else if (message.case === "getBlobArgs") {
        const blobData = blobs.get(encodeHex(message.value.blobId));
        await this.send({
          case: "kvClientMessage",
          value: { id, message: { case: "getBlobResult", value: { blobData } } },
        });
      }
    }
    if (of.case === "execServerMessage") {
      const answers = onExec?.(of.value);
      if (!answers) return;
      const { id } = of.value;
      for (const message of answers) await this.send({ case: "execClientMessage", value: { id, message } });
      await this.send({ case: "execClientControlMessage", value: { message: { case: "streamClose", value: { id } } } });
    }
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** The message that starts a run with a user's words. */
export function userMessage(text: string, more: { conversationId?: string; model?: string } = {}): ClientMessageInit {
  return {
    case: "runRequest",
    value: {
      conversationState: {},
      conversationId: more.conversationId ?? `agent-${randomUUID()}`,
      action: { action: { case: "userMessageAction", value: { userMessage: { text } } } },
      requestedModel: { modelId: more.model ?? "demo" },
    },
  };
}

/** The text of a text delta; "" for every other message. */
export function textOf({ message }: AgentServerMessage): string {
  if (message.case !== "interactionUpdate") return "";
  const update = message.value.message;
  return update.case === "textDelta" ? update.value.text : "";
}

/** Whether the message is an interaction update of that kind. */
export function isUpdate(message: AgentServerMessage, kind: string): boolean {
  return message.message.case === "interactionUpdate" && message.message.value.message.case === kind;
}
