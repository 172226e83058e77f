import { toJson } from "@bufbuild/protobuf";
import type { RunOutcome, SessionEvent } from "@keyturn/client";
import { type InteractionUpdate, ToolCallSchema } from "@keyturn/protocol/agent";
import type { Terminal } from "../terminal.js";
import { toolEnd, toolWords } from "./tool-words.js";
import type { TurnFacts, TurnOutput } from "./turn-output.js";

type Json = { readonly [name: string]: unknown };

/** A turn as lines of JSON, one event each, for programs. The first is `started`, the last one `ended`. */
export class JsonOutput implements TurnOutput {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  started(facts: TurnFacts): void {
    this.#line({ type: "started", ...facts });
  }

  event(event: SessionEvent): void {
    switch (event.kind) {
      case "message": {
        const { message } = event.message;
        if (message.case === "interactionUpdate") this.#update(message.value.message);
        if (message.case === "conversationCheckpointUpdate") this.#line({ type: "checkpoint" });
        return;
      }
      case "connected":
        return this.#line({ type: "connected", transport: event.transport, again: event.isAgain });
      case "connection-lost":
        return this.#line({ type: "connection-lost", why: event.why, retryInMs: event.retryInMs });
      case "problem":
        return this.notice(`${event.what}: ${String(event.cause)}`);
    }
  }

  notice(text: string): void {
    this.#line({ type: "notice", text });
  }

  ended(outcome: RunOutcome, exitCode: number): void {
    this.#line({ type: "ended", outcome: outcome.kind, ...detailsOf(outcome), exitCode });
  }

  #update(update: InteractionUpdate["message"]): void {
    switch (update.case) {
      case "textDelta":
        return this.#line({ type: "text", text: update.value.text });
      case "thinkingDelta":
        return this.#line({ type: "thinking", text: update.value.text });
      case "toolCallStarted":
      case "toolCallCompleted": {
        const { callId, toolCall } = update.value;
        if (!toolCall) return;
        const { name } = toolWords(toolCall);
        const call = toJson(ToolCallSchema, toolCall);
        if (update.case === "toolCallStarted") return this.#line({ type: "tool-started", callId, name, call });
        const { ok, summary, diff } = toolEnd(toolCall);
        return this.#line({ type: "tool-completed", callId, name, ok, summary, diff, call });
      }
      case "shellOutputDelta": {
        const { event } = update.value;
        if (event.case !== "stdout" && event.case !== "stderr") return;
        return this.#line({ type: "shell-output", channel: event.case, text: event.value.data });
      }
      default:
        return;
    }
  }

  #line(value: Json): void {
    this.#terminal.stdout.write(`${JSON.stringify(value)}\n`);
  }
}

function detailsOf(outcome: RunOutcome): Json {
  switch (outcome.kind) {
    case "finished":
      return { usage: outcome.usage };
    case "failed":
      return { error: outcome.error, usage: outcome.usage };
    case "refused":
      return { error: outcome.refusal.error };
    case "cancelled":
    case "lost":
      return { why: outcome.why };
  }
}
