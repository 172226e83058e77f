import { randomUUID } from "node:crypto";
import type { AgentServerMessage, InteractionQuery, InteractionUpdate } from "@keyturn/protocol/agent";
import { positionOf } from "@keyturn/protocol/codec";
import { Attachment, type AttachmentEnd } from "./attachment.js";
import { backoffMs } from "./backoff.js";
import { answerBlob } from "./blob-answers.js";
import { type ClientMessageInit, encodeMessage } from "./client-message.js";
import { every, pause, type SessionClock, systemClock } from "./clock.js";
import { answerWithoutPerson } from "./default-answers.js";
import { EventQueue } from "./event-queue.js";
import { Executions } from "./executions.js";
import { judge, type RunFacts, reasonOf } from "./judge.js";
import { Outbox } from "./outbox.js";
import type { RunOutcome, TurnUsage } from "./outcome.js";
import { defaultSessionLimits, type SessionEvent, type SessionLimits, type SessionOptions } from "./session-options.js";
import { usageOf } from "./usage.js";

/** Events that may wait to be read before the server is made to wait. */
const maxEventsWaiting = 1_024;

/**
 * One run as a client lives through it: starts or joins it, carries out what is asked of the client, comes back when the
 * connection breaks or the server is restarted, and ends with exactly one outcome. Iterate it, once: what is not read is held, and
 * past a bound the server waits.
 */
export class Session implements AsyncIterable<SessionEvent> {
  readonly requestId: string;
  /** How the run ended for this client. Never rejects; pending while the run goes on. */
  readonly outcome: Promise<RunOutcome>;
  readonly #options: SessionOptions;
  readonly #limits: SessionLimits;
  readonly #clock: SessionClock;
  readonly #random: () => number;
  readonly #events: EventQueue<SessionEvent>;
  readonly #outbox: Outbox;
  readonly #executions: Executions | undefined;
  readonly #over = new AbortController();
  #attachment: Attachment | undefined;
  #transportIndex = 0;
  #isPaused = false;
  #wasConnected = false;
  #wasHeard = false;
  #position: number;
  #lastHeardAt: number;
  /** Set as soon as something was heard that has no position: then there is no way back to it. */
  #isUnpositioned = false;
  #turnEnded = false;
  #usage: TurnUsage | undefined;
  #decided: RunOutcome | undefined;
  #saving: Promise<void> = Promise.resolve();

  /** Begins at once; nothing has to be awaited. */
  constructor(options: SessionOptions) {
    this.#options = options;
    this.requestId = options.requestId ?? randomUUID();
    this.#limits = { ...defaultSessionLimits, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#position = options.position ?? 0;
    this.#lastHeardAt = this.#clock.now();
    this.#events = new EventQueue(maxEventsWaiting, (isFull) => {
      this.#isPaused = isFull;
      this.#attachment?.setPaused(isFull);
    });
    this.#outbox = new Outbox({
      requestId: this.requestId,
      clock: this.#clock,
      random: this.#random,
      refused: (refusal) => this.#decide({ kind: "refused", refusal }),
    });
    this.#executions = options.executor && new Executions(options.executor, this.#outbox, this.#clock);
    if (options.request) this.send({ case: "runRequest", value: options.request });
    this.outcome = this.#live();
  }

  /** Says something to the server, after all that was said before; it is sent again until the server has it. */
  send(message: ClientMessageInit): void {
    this.#outbox.send(encodeMessage(message));
  }

  /** Where the session stands in the log of the run: another one can go on there. */
  get position(): number {
    return this.#position;
  }

  /** Asks the server to end the run, and leaves it if that takes too long. Resolves with the outcome. */
  cancel(why: string): Promise<RunOutcome> {
    if (!this.#wasConnected) this.#decide({ kind: "cancelled", why });
    this.send({
      case: "conversationAction",
      value: { action: { case: "cancelAction", value: { reason: why } } },
    });
    void pause(this.#clock, this.#limits.cancelMs, this.#over.signal).then(() =>
      this.#decide({ kind: "cancelled", why }),
    );
    return this.outcome;
  }

  /** Leaves the run without a word; the server decides what becomes of it. Resolves with the outcome. */
  leave(): Promise<RunOutcome> {
    this.#decide({ kind: "lost", why: "this client left" });
    return this.outcome;
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionEvent> {
    return this.#events[Symbol.asyncIterator]();
  }

  async #live(): Promise<RunOutcome> {
    const alive = encodeMessage({ case: "clientHeartbeat", value: {} });
    const stopHeartbeat = every(this.#clock, this.#limits.heartbeatMs, () => this.#outbox.sendSignOfLife(alive));
    const outcome = await this.#stayConnected();
    stopHeartbeat();
    this.#over.abort();
    await this.#executions?.close();
    this.#outbox.close();
    await this.#saving;
    this.#events.close();
    return outcome;
  }

  async #stayConnected(): Promise<RunOutcome> {
    for (let failures = 0; this.#decided === undefined; ) {
      const heardAt = this.#lastHeardAt;
      const end = await this.#attach();
      const verdict = judge(end, this.#facts);
      if (this.#decided) break;
      if (verdict.kind === "over") return verdict.outcome;
      if (verdict.kind === "other-transport") {
        this.#transportIndex += 1;
        continue;
      }
      failures = this.#lastHeardAt > heardAt ? 1 : failures + 1;
      const why = reasonOf(end);
      if (this.#clock.now() - this.#lastHeardAt >= this.#limits.giveUpAfterMs) return { kind: "lost", why };
      const retryInMs = backoffMs(failures, this.#random);
      this.#events.push({ kind: "connection-lost", why, retryInMs });
      await pause(this.#clock, retryInMs, this.#over.signal);
    }
    return this.#decided;
  }

  async #attach(): Promise<AttachmentEnd> {
    const transport = this.#options.transports[this.#transportIndex];
    if (!transport) return { kind: "unreachable", why: "no transport is left", isMismatch: false };
    this.#attachment = new Attachment({
      transport,
      request: { requestId: this.requestId, position: this.#position },
      clock: this.#clock,
      stallMs: this.#limits.stallMs,
      connected: (stream) => {
        this.#outbox.connected(transport, stream);
        this.#events.push({ kind: "connected", transport: transport.name, isAgain: this.#wasConnected });
        this.#wasConnected = true;
        if (this.#isPaused) this.#attachment?.setPaused(true);
      },
      message: (message) => this.#take(message),
    });
    const end = await this.#attachment.ended;
    this.#attachment = undefined;
    this.#outbox.disconnected();
    return end;
  }

  /** What is known of the run, for judging the end of a connection. */
  get #facts(): RunFacts {
    return {
      turnEnded: this.#turnEnded,
      usage: this.#usage,
      isUnpositioned: this.#isUnpositioned,
      mayChangeTransport: !this.#wasHeard && this.#transportIndex + 1 < this.#options.transports.length,
    };
  }

  #take(message: AgentServerMessage): void {
    this.#lastHeardAt = this.#clock.now();
    this.#wasHeard = true;
    const of = message.message;
    if (of.case === "interactionUpdate" && of.value.message.case === "heartbeat") return;
    const position = positionOf(message);
    if (position === undefined) this.#isUnpositioned = true;
    else if (position <= this.#position) return;
    else this.#position = position;
    this.#react(of);
    this.#events.push({ kind: "message", message, position });
  }

  #react(of: AgentServerMessage["message"]): void {
    switch (of.case) {
      case "execServerMessage":
        return this.#executions?.start(of.value);
      case "execServerControlMessage":
        if (of.value.message.case === "abort") this.#executions?.abort(of.value.message.value.id);
        return;
      case "kvServerMessage":
        return void answerBlob(of.value, this.#options.store, this.#problem).then(
          (answer) => answer && this.send(answer),
        );
      case "conversationCheckpointUpdate": {
        const save = () => this.#options.onCheckpoint?.(of.value);
        this.#saving = this.#saving
          .then(save)
          .catch((cause: unknown) => this.#problem("the conversation could not be saved", cause));
        return;
      }
      case "interactionQuery":
        return void this.#answer(of.value);
      case "interactionUpdate":
        return this.#noteEnd(of.value);
      default:
        return;
    }
  }

  async #answer(query: InteractionQuery): Promise<void> {
    const ask = this.#options.answerQuery ?? ((asked: InteractionQuery) => Promise.resolve(answerWithoutPerson(asked)));
    try {
      const result = await ask(query, this.#over.signal);
      if (result) this.send({ case: "interactionResponse", value: { id: query.id, result } });
    } catch (cause) {
      if (!this.#over.signal.aborted) this.#problem("a question could not be answered", cause);
    }
  }

  #noteEnd({ message }: InteractionUpdate): void {
    if (message.case !== "turnEnded") return;
    this.#turnEnded = true;
    this.#usage = usageOf(message.value);
  }

  #decide(outcome: RunOutcome): void {
    if (this.#decided || this.#over.signal.aborted) return;
    this.#decided = outcome;
    this.#over.abort();
    this.#attachment?.close("it is over");
  }

  readonly #problem = (what: string, cause: unknown): void => {
    this.#events.push({ kind: "problem", what, cause });
  };
}
