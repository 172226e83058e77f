import { create } from "@bufbuild/protobuf";
import {
  type SubagentArgs,
  SubagentBackgroundReason,
  type SubagentResult,
  SubagentResultSchema,
} from "@keyturn/protocol/agent";
import type { RunOutcome } from "../session/outcome.js";
import type { Session } from "../session/session.js";
import { Conversation, type ConversationServices } from "./conversation.js";

/** What became of one subagent. */
interface Finished {
  readonly outcome: RunOutcome;
  readonly finalMessage: string;
  readonly toolCallCount: number;
}

/** What is told of subagents while they run. */
export interface SubagentListener {
  started?(child: { readonly id: string; readonly type: string; readonly isBackground: boolean }): void;
  ended?(child: { readonly id: string; readonly outcome: RunOutcome }): void;
}

/**
 * Subagents as runs of their own on the same server, with the same hands. One in the background is answered at once and goes
 * on until it ends or everything is closed.
 */
export class Subagents {
  readonly #services: () => ConversationServices;
  readonly #workspace: string;
  readonly #listener: SubagentListener;
  readonly #running = new Map<Session, Promise<Finished>>();

  constructor(services: () => ConversationServices, workspace: string, listener: SubagentListener = {}) {
    this.#services = services;
    this.#workspace = workspace;
    this.#listener = listener;
  }

  /** Runs one, and resolves with what the parent is told. The signal ends one that is waited for. */
  readonly run = async (args: SubagentArgs, signal: AbortSignal): Promise<SubagentResult> => {
    let conversation: Conversation;
    try {
      conversation = await this.#open(args);
    } catch (cause) {
      return failed(undefined, cause instanceof Error ? cause.message : String(cause));
    }
    const { id } = conversation.stored;
    const session = conversation.begin(requestOf(args, id));
    const isBackground = args.runInBackground === true;
    this.#listener.started?.({ id, type: args.subagentType, isBackground });
    const finished = this.#follow(session, id);
    if (isBackground) {
      return success({ agentId: id, toolCallCount: 0, backgroundReason: SubagentBackgroundReason.AGENT_REQUEST });
    }
    const cancel = (): void => void session.cancel("the parent was stopped");
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    const { outcome, finalMessage, toolCallCount } = await finished;
    signal.removeEventListener("abort", cancel);
    if (outcome.kind !== "finished") return failed(id, wordsOf(outcome));
    return success({ agentId: id, finalMessage, toolCallCount });
  };

  /** How many run. */
  get count(): number {
    return this.#running.size;
  }

  /** Resolves when none runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Cancels all and resolves when they have ended. */
  async close(): Promise<void> {
    for (const session of this.#running.keys()) void session.cancel("the client was closed");
    await this.idle();
  }

  async #open({ resumeAgentId, parentConversationId, subagentType }: SubagentArgs): Promise<Conversation> {
    const services = this.#services();
    if (resumeAgentId) {
      const stored = await services.store.conversation(resumeAgentId);
      if (!stored) throw new Error(`There is no subagent ${resumeAgentId} here to go on with.`);
      return Conversation.resume(services, stored);
    }
    const facts = {
      workspace: this.#workspace,
      parent: parentConversationId,
      subagentType: subagentType || "subagent",
    };
    return Conversation.start(services, facts);
  }

  #follow(session: Session, id: string): Promise<Finished> {
    const finished = follow(session).then((result) => {
      this.#running.delete(session);
      this.#listener.ended?.({ id, outcome: result.outcome });
      return result;
    });
    this.#running.set(session, finished);
    return finished;
  }
}

async function follow(session: Session): Promise<Finished> {
  let finalMessage = "";
  let toolCallCount = 0;
  for await (const event of session) {
    if (event.kind !== "message" || event.message.message.case !== "interactionUpdate") continue;
    const update = event.message.message.value.message;
    if (update.case === "textDelta") finalMessage += update.value.text;
    if (update.case !== "toolCallStarted") continue;
    toolCallCount += 1;
    // What counts is the text after the last call.
    finalMessage = "";
  }
  return { outcome: await session.outcome, finalMessage, toolCallCount };
}

function requestOf(args: SubagentArgs, id: string): Parameters<Conversation["begin"]>[0] {
  const { prompt, modelId, subagentType, rootParentConversationId, credentials } = args;
  return {
    action: { action: { case: "userMessageAction", value: { userMessage: { text: prompt } } } },
    modelDetails: modelId ? { modelId, displayModelId: modelId, displayName: modelId, credentials } : {},
    subagentTypeName: subagentType,
    conversationGroupId: rootParentConversationId || id,
  };
}

interface Success {
  readonly agentId: string;
  readonly finalMessage?: string;
  readonly toolCallCount: number;
  readonly backgroundReason?: SubagentBackgroundReason;
}

function success(value: Success): SubagentResult {
  return create(SubagentResultSchema, { result: { case: "success", value } });
}

function failed(agentId: string | undefined, error: string): SubagentResult {
  return create(SubagentResultSchema, { result: { case: "error", value: { agentId, error } } });
}

function wordsOf(outcome: Exclude<RunOutcome, { kind: "finished" }>): string {
  switch (outcome.kind) {
    case "failed":
      return outcome.error.message;
    case "refused":
      return outcome.refusal.message;
    case "cancelled":
    case "lost":
      return outcome.why;
  }
}
