import type { ExecServerMessage } from "@keyturn/protocol/agent";
import type { Execution } from "../executor/execution.js";
import { type ClientMessageInit, encodeMessage } from "./client-message.js";
import { every, type SessionClock } from "./clock.js";

/** Whoever carries executions out. */
export interface ExecutionHandler {
  /** Sends 0..n answers and resolves; throws `ExecutionFailure` for what is told as `throw`. */
  execute(execution: Execution): Promise<void>;
}

/** What executions are answered through. */
export interface ExecutionWire {
  send(bytes: Uint8Array): void;
  sendSignOfLife(bytes: Uint8Array): void;
}

const heartbeatMs = 3_000;

/**
 * The executions of one run: started as they arrive, each once, however often it is offered; a sign of life every three seconds;
 * answers, then `stream_close` or `throw`; stopped when the server says so or the run is over.
 */
export class Executions {
  readonly #handler: ExecutionHandler;
  readonly #wire: ExecutionWire;
  readonly #clock: SessionClock;
  readonly #running = new Map<number, { readonly controller: AbortController; readonly done: Promise<void> }>();
  /** Begun in this session: offered again, they go on or are answered already. */
  readonly #seen = new Set<string>();

  constructor(handler: ExecutionHandler, wire: ExecutionWire, clock: SessionClock) {
    this.#handler = handler;
    this.#wire = wire;
    this.#clock = clock;
  }

  /** Starts an execution. */
  start(message: ExecServerMessage): void {
    const { id } = message;
    const name = `${id} ${message.execId}`;
    if (this.#seen.has(name)) return;
    this.#seen.add(name);
    const controller = new AbortController();
    const stopHeartbeat = every(this.#clock, heartbeatMs, () =>
      this.#wire.sendSignOfLife(encodeMessage(control({ case: "heartbeat", value: { id } }))),
    );
    const done = this.#carryOut(message, controller.signal).finally(() => {
      stopHeartbeat();
      this.#running.delete(id);
    });
    this.#running.set(id, { controller, done });
  }

  /** Stops one, as the server demands; an unknown id is ignored. */
  abort(id: number): void {
    this.#running.get(id)?.controller.abort(new Error("the server stopped the execution"));
  }

  /** Stops all and resolves when they have ended. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort(new Error("the run is over"));
    await Promise.all(running.map(({ done }) => done));
  }

  async #carryOut(message: ExecServerMessage, signal: AbortSignal): Promise<void> {
    const { id } = message;
    try {
      await this.#handler.execute({
        message,
        signal,
        send: (answer) => this.#wire.send(encodeMessage({ case: "execClientMessage", value: answer })),
      });
      this.#wire.send(encodeMessage(control({ case: "streamClose", value: { id } })));
    } catch (cause) {
      const error = cause instanceof Error ? cause.message : String(cause);
      this.#wire.send(encodeMessage(control({ case: "throw", value: { id, error } })));
    }
  }
}

type ControlInit = NonNullable<Extract<ClientMessageInit, { case: "execClientControlMessage" }>["value"]["message"]>;

function control(message: ControlInit): ClientMessageInit {
  return { case: "execClientControlMessage", value: { message } };
}
