import type { ContextFacts } from "./context-facts.js";
import { block, labelled, lines } from "./markup.js";

/** How the user wants the agent to work. */
export type Mode = "agent" | "ask" | "plan" | "debug";

const reminders: Readonly<Record<Exclude<Mode, "agent">, string>> = {
  ask: "You are in ask mode: answer, explain and advise. You may read and search. Do not change files, and do not run anything that changes the workspace or anything outside it. If the user wants a change, describe it and say that agent mode can make it.",
  plan: "You are in plan mode: work out how the task should be done, and do not do it yet. You may read and search, and ask about what only the user can decide. Do not change files, and do not run anything that changes something. When you know enough, hand in the plan with the tool for plans if you have it, otherwise as your answer: the goal, the steps with the files they touch, how each is checked, and what is uncertain.",
  debug:
    "You are in debug mode: find the cause before you mend anything. Name the likely causes, gather evidence that tells them apart (logs, small experiments, added output), and have the failure reproduced. Change code for good only when the evidence points to one cause, show that the failure is gone, and take out all you added for the search.",
};

/** What the mode allows, for the modes that restrict; for agent mode only when it has just been entered. */
export function modeText(mode: Mode, previousMode: Mode | undefined, context: ContextFacts | null): string {
  const changed = previousMode !== undefined && previousMode !== mode;
  const change = changed ? `The user changed the mode from ${previousMode} to ${mode}.` : "";
  if (mode === "agent")
    return block("mode", {}, changed ? lines(change, "You may change files and run commands for the task.") : "");
  const debug = mode === "debug" ? (context?.debug ?? null) : null;
  return block(
    "mode",
    {},
    lines(
      change,
      reminders[mode],
      labelled("Log file to which added output should go", debug?.logPath ?? ""),
      labelled("Address that also takes log lines", debug?.endpoint ?? ""),
      labelled("Session id to put into each log line", debug?.sessionId ?? ""),
    ),
  );
}
