import type { Terminal } from "../terminal.js";
import { explainOutcome } from "./exit-codes.js";
import { Interrupts } from "./interrupts.js";
import { JsonOutput } from "./json-output.js";
import { modeOf } from "./modes.js";
import { askOnTerminal } from "./person.js";
import { readPrompt } from "./prompt-input.js";
import { TextOutput } from "./text-output.js";
import { runTurn } from "./turn.js";
import { asCliError, conversationOf, openWorkplace, type WorkplaceOptions } from "./workplace.js";

/** `run`: one turn in the current folder. Resolves with the exit code; rejects with CliError when there was no turn. */
export async function run(terminal: Terminal, words: readonly string[], options: WorkplaceOptions): Promise<number> {
  const interrupts = new Interrupts(terminal);
  const prompt = await readPrompt(terminal, words);
  const person = options.json ? undefined : askOnTerminal(terminal, interrupts);
  const workplace = await openWorkplace(terminal, options, person);
  try {
    const { opened, agent, denials } = workplace;
    const conversation = await conversationOf(agent, options);
    const output = options.json ? new JsonOutput(terminal) : new TextOutput(terminal);
    const mode = options.mode === undefined ? undefined : modeOf(options.mode);
    const services = { opened, output, interrupts, denials };
    const result = await runTurn(conversation, prompt, { model: options.model, mode }, services);
    if (result.outcome.kind === "finished" && agent.subagents.count > 0) {
      output.notice("waiting for subagents in the background");
      const release = interrupts.during(() => void agent.subagents.close());
      await agent.subagents.idle();
      release();
    }
    for (const line of explainOutcome(result.outcome, opened.server.baseUrl))
      terminal.stderr.write(`keyturn: ${line}\n`);
    return result.exitCode;
  } catch (cause) {
    throw asCliError(cause);
  } finally {
    await workplace.close();
  }
}
