import type { RunOutcome, SessionEvent } from "@keyturn/client";
import type { InteractionUpdate } from "@keyturn/protocol/agent";
import type { Terminal } from "../terminal.js";
import { toolEnd, toolWords } from "./tool-words.js";
import type { TurnOutput } from "./turn-output.js";

type Update = InteractionUpdate["message"];

/**
 * A turn as text: what the model says as it comes, a line for each tool call, output of commands, differences of edits. Colours on a
 * terminal only. Remarks about the connection go to standard error, so that a pipe gets the turn alone.
 */
export class TextOutput implements TurnOutput {
  readonly #terminal: Terminal;
  readonly #paint: (code: string, text: string) => string;
  #isLineStart = true;
  #isThinking = false;
  #isAway = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    const isColoured = terminal.stdout.isTTY === true && !terminal.environment.NO_COLOR;
    this.#paint = (code, text) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  }

  started(): void {}

  event(event: SessionEvent): void {
    switch (event.kind) {
      case "message":
        if (event.message.message.case === "interactionUpdate") this.#update(event.message.message.value.message);
        return;
      case "connected":
        if (this.#isAway) this.notice("the connection is back; the run went on meanwhile");
        this.#isAway = false;
        return;
      case "connection-lost":
        // Once, however often it is tried.
        if (!this.#isAway) this.notice(`the connection is lost (${event.why}); trying to come back`);
        this.#isAway = true;
        return;
      case "problem":
        return this.notice(`${event.what}: ${messageOf(event.cause)}`);
    }
  }

  notice(text: string): void {
    this.#line();
    this.#terminal.stderr.write(`keyturn: ${safe(text)}\n`);
  }

  ended(outcome: RunOutcome): void {
    this.#line();
    if (outcome.kind !== "finished" || this.#terminal.stdout.isTTY !== true || !outcome.usage) return;
    const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = outcome.usage;
    const tokens = `${inputTokens + cacheReadTokens + cacheWriteTokens} tokens in, ${outputTokens} out`;
    this.#terminal.stdout.write(`${this.#paint("2", tokens)}\n`);
  }

  #update(update: Update): void {
    switch (update.case) {
      case "textDelta":
        if (this.#isThinking) this.#line();
        return this.#write(safe(update.value.text));
      case "thinkingDelta":
        this.#isThinking = true;
        return this.#write(this.#paint("2", safe(update.value.text)));
      case "thinkingCompleted":
        return this.#line();
      case "toolCallStarted": {
        if (!update.value.toolCall) return;
        const { name, subject } = toolWords(update.value.toolCall);
        this.#line();
        return this.#write(`${this.#paint("36", `[${name}]`)} ${safe(subject)}\n`);
      }
      case "toolCallCompleted": {
        if (!update.value.toolCall) return;
        const { name } = toolWords(update.value.toolCall);
        const { ok, summary, diff } = toolEnd(update.value.toolCall);
        this.#line();
        this.#write(
          `${this.#paint(ok ? "32" : "31", `[${name}] ${ok ? "done" : "failed"}`)} ${safe(summary)}`.trimEnd(),
        );
        this.#line();
        if (diff) for (const line of diff.trimEnd().split("\n")) this.#write(`${this.#diffLine(safe(line))}\n`);
        return;
      }
      case "shellOutputDelta": {
        const { event } = update.value;
        if (event.case !== "stdout" && event.case !== "stderr") return;
        return this.#write(this.#paint("2", safe(event.value.data)));
      }
      default:
        return;
    }
  }

  #diffLine(line: string): string {
    if (line.startsWith("+")) return this.#paint("32", line);
    if (line.startsWith("-")) return this.#paint("31", line);
    return line.startsWith("@@") ? this.#paint("36", line) : line;
  }

  #write(text: string): void {
    if (text === "") return;
    this.#terminal.stdout.write(text);
    this.#isLineStart = text.endsWith("\n") || text.endsWith("\n\u001b[0m");
  }

  #line(): void {
    this.#isThinking = false;
    if (!this.#isLineStart) this.#write("\n");
  }
}

/** Text of a model or a tool without what would steer the terminal. */
export function safe(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

function messageOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (code === "ENOSPC") return "the disk is full";
  return cause instanceof Error ? cause.message : String(cause);
}
