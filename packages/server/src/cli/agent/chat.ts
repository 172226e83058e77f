import { createInterface, type Interface } from "node:readline/promises";
import { PromptRefused } from "@keyturn/client";
import { CliError, type Terminal } from "../terminal.js";
import { type ChatState, runCommand } from "./chat-commands.js";
import { exitCode, explainOutcome } from "./exit-codes.js";
import { Interrupts } from "./interrupts.js";
import { modeOf } from "./modes.js";
import { askOnTerminal } from "./person.js";
import { TextOutput } from "./text-output.js";
import { runTurn } from "./turn.js";
import { asCliError, conversationOf, openWorkplace, type WorkplaceOptions } from "./workplace.js";

/** `chat`: turn after turn until the input ends. Resolves with the exit code of the last turn. */
export async function chat(terminal: Terminal, options: WorkplaceOptions): Promise<number> {
  if (!terminal.stdin) throw new CliError("there is no input to chat with", { exitCode: exitCode.usage });
  const interrupts = new Interrupts(terminal);
  const person = askOnTerminal(terminal, interrupts);
  const workplace = await openWorkplace(terminal, options, person);
  const lines = person ? new PromptedLines(terminal, interrupts) : new PipedLines(terminal.stdin);
  try {
    const { opened, agent, denials } = workplace;
    const state: ChatState = {
      conversation: await conversationOf(agent, options),
      model: options.model,
      mode: options.mode === undefined ? undefined : modeOf(options.mode),
      used: [],
    };
    const output = new TextOutput(terminal);
    if (person) terminal.stdout.write(`${greeting(opened.server.baseUrl, opened.isPrivate, state)}\n`);
    let code: number = exitCode.finished;
    for (let line = await lines.next(); line !== undefined && !interrupts.isHungUp; line = await lines.next()) {
      if (line.trim() === "") continue;
      const command = line.startsWith("/") ? await runCommand(line, state, { opened, agent }) : undefined;
      if (command?.kind === "leave") break;
      if (command?.kind === "said") {
        for (const each of command.lines) terminal.stdout.write(`${each}\n`);
        continue;
      }
      const { model, mode } = state;
      const services = { opened, output, interrupts, denials };
      const result = await runTurn(state.conversation, command?.text ?? line, { model, mode }, services).catch(
        refusedPrompt,
      );
      if (typeof result === "string") {
        terminal.stderr.write(`keyturn: ${result}\n`);
        code = exitCode.refused;
        continue;
      }
      // Chosen for good: the conversation has it from here on.
      state.mode = undefined;
      if (result.usage) state.used.push(result.usage);
      for (const each of explainOutcome(result.outcome, opened.server.baseUrl))
        terminal.stderr.write(`keyturn: ${each}\n`);
      code = result.exitCode;
    }
    return lines.wasInterrupted ? exitCode.cancelled : code;
  } catch (cause) {
    throw asCliError(cause);
  } finally {
    lines.close();
    await workplace.close();
  }
}

/** A hook that stops a message does not stop the chat. */
function refusedPrompt(cause: unknown): string {
  if (cause instanceof PromptRefused) return cause.message;
  throw cause;
}

function greeting(serverUrl: string, isPrivate: boolean, { conversation }: ChatState): string {
  const server = isPrivate ? "a private server" : serverUrl;
  const { id, title } = conversation.stored;
  return `Keyturn on ${server}. ${title ? `Going on with "${title}" (${id}).` : `Conversation ${id}.`} /help lists commands.`;
}

/** Where the user's lines come from; undefined once there are no more. */
interface Lines {
  next(): Promise<string | undefined>;
  /** The user left with Ctrl-C. */
  readonly wasInterrupted: boolean;
  close(): void;
}

/** Lines of a person, each asked for. The terminal is in line mode only while a prompt stands. */
class PromptedLines implements Lines {
  readonly #terminal: Terminal;
  readonly #interrupts: Interrupts;
  #open: Interface | undefined;
  #history: string[] = [];
  wasInterrupted = false;

  constructor(terminal: Terminal, interrupts: Interrupts) {
    this.#terminal = terminal;
    this.#interrupts = interrupts;
  }

  next(): Promise<string | undefined> {
    const { stdin, stdout } = this.#terminal;
    if (!stdin) return Promise.resolve(undefined);
    const line = createInterface({ input: stdin, output: stdout as NodeJS.WriteStream, history: this.#history });
    this.#open = line;
    return new Promise((resolve) => {
      const settle = (text: string | undefined): void => {
        // First, because closing says that there is no line.
        resolve(text);
        release();
        this.#open = undefined;
        line.close();
      };
      const release = this.#interrupts.during(() => {
        this.wasInterrupted = true;
        settle(undefined);
      });
      line.on("history", (history) => {
        this.#history = history;
      });
      line.once("SIGINT", () => {
        this.wasInterrupted = true;
        stdout.write("\n");
        settle(undefined);
      });
      line.once("close", () => settle(undefined));
      void line.question("> ").then(settle, () => settle(undefined));
    });
  }

  close(): void {
    this.#open?.close();
  }
}

/** Lines of a pipe. */
class PipedLines implements Lines {
  readonly wasInterrupted = false;
  readonly #interface: Interface;
  readonly #lines: AsyncIterator<string>;

  constructor(stdin: NodeJS.ReadStream) {
    this.#interface = createInterface({ input: stdin });
    this.#lines = this.#interface[Symbol.asyncIterator]();
  }

  async next(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next();
    return done ? undefined : value;
  }

  close(): void {
    this.#interface.close();
  }
}
