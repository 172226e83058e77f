import { createInterface } from "node:readline/promises";
import {
  answerWithoutPerson,
  type PolicyAnswer,
  type PolicyQuestion,
  type QueryAnswer,
  type SessionOptions,
} from "@keyturn/client";
import type { AskQuestionArgs } from "@keyturn/protocol/agent";
import type { Terminal } from "../terminal.js";
import type { Interrupts } from "./interrupts.js";
import { safe } from "./text-output.js";
import type { Person } from "./workplace.js";

type Ask = (question: string, signal?: AbortSignal) => Promise<string>;

/** A person at this terminal; undefined when input or output is none. */
export function askOnTerminal(terminal: Terminal, interrupts: Interrupts): Person | undefined {
  const { stdin, stdout } = terminal;
  if (!stdin?.isTTY || stdout.isTTY !== true) return undefined;
  return personBehind(
    async (question, signal) => {
      // Only while a question stands: in between, Ctrl-C is a signal and not a key.
      const line = createInterface({ input: stdin, output: stdout as NodeJS.WriteStream });
      const closed = new AbortController();
      line.once("SIGINT", () => interrupts.wish("interrupted by the user"));
      line.once("close", () => closed.abort());
      const signals = [closed.signal, interrupts.signal, ...(signal ? [signal] : [])];
      try {
        return await line.question(question, { signal: AbortSignal.any(signals) });
      } finally {
        line.close();
      }
    },
    (text) => void stdout.write(text),
  );
}

/** A person who answers lines. */
export function personBehind(ask: Ask, tell: (text: string) => void): Person {
  return {
    askUser: (question) => askLeave(question, ask, tell),
    answerQuery: (query, signal) => answer(query, signal, ask, tell),
  };
}

async function askLeave(
  { action, why, rule }: PolicyQuestion,
  ask: Ask,
  tell: (text: string) => void,
): Promise<PolicyAnswer> {
  const subject = action.command ?? action.url ?? action.path ?? "";
  tell(`\nThe agent wants: ${safe(action.tool)} ${safe(subject)}\n  ${safe(why)}\n`);
  for (;;) {
    const said = (await ask("Allow? [y]es, [n]o, [a]lways, ne[v]er: ").catch(() => "n")).trim().toLowerCase();
    if (said === "y" || said === "yes") return "allow-once";
    if (said === "n" || said === "no" || said === "") return "deny-once";
    if (said === "a" || said === "always") {
      tell(`Remembered for this project: ${JSON.stringify(rule)}\n`);
      return "allow-always";
    }
    if (said === "v" || said === "never") return "deny-always";
  }
}

const answer = async (
  query: Parameters<NonNullable<SessionOptions["answerQuery"]>>[0],
  signal: AbortSignal,
  ask: Ask,
  tell: (text: string) => void,
): Promise<QueryAnswer | undefined> => {
  if (query.query.case !== "askQuestionInteractionQuery") return answerWithoutPerson(query);
  const args = query.query.value.args;
  if (!args) return answerWithoutPerson(query);
  const answers = await askAll(args, signal, ask, tell);
  return {
    case: "askQuestionInteractionResponse",
    value: { result: { result: { case: "success", value: { answers } } } },
  };
};

async function askAll(args: AskQuestionArgs, signal: AbortSignal, ask: Ask, tell: (text: string) => void) {
  const answers: { questionId: string; selectedOptionIds: string[]; freeformText: string }[] = [];
  if (args.title) tell(`\n${safe(args.title)}\n`);
  for (const { id, prompt, options, allowMultiple } of args.questions) {
    tell(`\n${safe(prompt)}\n`);
    options.forEach(({ label }, index) => tell(`  ${index + 1}) ${safe(label)}\n`));
    const said = (
      await ask(allowMultiple ? "Numbers, or words of your own: " : "A number, or words of your own: ", signal)
    ).trim();
    const numbers = /^[\d\s,]+$/.test(said)
      ? said
          .split(/[\s,]+/)
          .filter(Boolean)
          .map(Number)
      : [];
    const chosen = numbers.flatMap((number) => options[number - 1]?.id ?? []);
    answers.push({ questionId: id, selectedOptionIds: chosen, freeformText: chosen.length > 0 ? "" : said });
  }
  return answers;
}
