import type { Conversation, RunOutcome, Session, TurnOptions, TurnUsage } from "@keyturn/client";
import { exitCode, exitCodeOf } from "./exit-codes.js";
import type { Interrupts } from "./interrupts.js";
import type { OpenedServer } from "./open-server.js";
import type { TurnOutput } from "./turn-output.js";

/** What a turn is run with. */
export interface TurnServices {
  readonly opened: OpenedServer;
  readonly output: TurnOutput;
  readonly interrupts: Interrupts;
  /** How many actions the policy has denied because nobody could be asked. */
  readonly denials: () => number;
}

/** How a turn ended for the command line. */
export interface TurnResult {
  readonly outcome: RunOutcome;
  readonly exitCode: number;
  readonly usage: TurnUsage | undefined;
}

/** A server that stops ends its runs; so often the turn is taken up again by a new one. */
const maxResumptions = 3;

/** Runs one turn to its end and shows it. */
export async function runTurn(
  conversation: Conversation,
  text: string,
  options: TurnOptions,
  services: TurnServices,
): Promise<TurnResult> {
  const denied = services.denials();
  let outcome = await follow(await conversation.say(text, options), conversation, services);
  for (let count = 0; count < maxResumptions && wasStopped(outcome); count += 1) {
    services.output.notice("the server was stopped in the middle; going on where it stood");
    outcome = await follow(await conversation.goOn(), conversation, services);
  }
  const refusedHere = outcome.kind === "finished" && services.denials() > denied;
  const code = refusedHere ? exitCode.refused : exitCodeOf(outcome);
  services.output.ended(outcome, code);
  return { outcome, exitCode: code, usage: "usage" in outcome ? outcome.usage : undefined };
}

/** The server ended the run although nothing was wrong with it. */
function wasStopped(outcome: RunOutcome): boolean {
  return outcome.kind === "failed" && outcome.error.isRetryable && outcome.error.code === "unavailable";
}

async function follow(session: Session, conversation: Conversation, services: TurnServices): Promise<RunOutcome> {
  const { opened, output, interrupts } = services;
  output.started({
    requestId: session.requestId,
    conversationId: conversation.stored.id,
    serverUrl: opened.server.baseUrl,
    isPrivateServer: opened.isPrivate,
  });
  const release = interrupts.during((why) => void session.cancel(why));
  try {
    for await (const event of session) output.event(event);
    return await session.outcome;
  } finally {
    release();
  }
}
