import type { Executor } from "../executor/executor.js";
import type { RunOutcome } from "../session/outcome.js";

/** The user's hooks round a turn: `beforeSubmitPrompt`, which may refuse it, and `stop`. */
export class TurnHooks {
  readonly #hooks: Executor["hooks"];
  #running: Promise<unknown> = Promise.resolve();

  constructor(hooks: Executor["hooks"]) {
    this.#hooks = hooks;
  }

  /** The reason not to send a message, undefined when nothing speaks against it. */
  readonly beforePrompt = async (conversationId: string, prompt: string): Promise<string | undefined> => {
    const payload = { conversation_id: conversationId, prompt, attachments: [] };
    const { permission, stopped, userMessage } = await this.#hooks.run("beforeSubmitPrompt", payload);
    if (!stopped && permission !== "deny") return undefined;
    return `A hook of this project does not let the message be sent${userMessage ? `: ${userMessage}` : "."}`;
  };

  /** Tells the hooks how a turn has ended. */
  readonly afterTurn = (conversationId: string, outcome: RunOutcome): void => {
    const status = outcome.kind === "finished" ? "completed" : outcome.kind === "cancelled" ? "aborted" : "error";
    const run = () => this.#hooks.run("stop", { conversation_id: conversationId, status, loop_count: 0 });
    this.#running = this.#running.then(run).catch(() => undefined);
  };

  /** Resolves when no hook runs any more. */
  async settled(): Promise<void> {
    await this.#running;
  }
}
