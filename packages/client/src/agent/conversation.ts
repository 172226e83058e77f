import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  type AgentMode,
  AgentRunRequestSchema,
  type ConversationStateStructure,
  ConversationStateStructureSchema,
  McpToolsSchema,
} from "@keyturn/protocol/agent";
import type { RunRequestInit } from "../session/client-message.js";
import type { RunOutcome } from "../session/outcome.js";
import { Session } from "../session/session.js";
import type { SessionOptions } from "../session/session-options.js";
import type { ClientStore, StoredConversation } from "../store/client-store.js";
import { loadCheckpoint, saveCheckpoint } from "./checkpoints.js";

/** What the turns of a conversation have in common. */
export interface ConversationServices {
  readonly store: ClientStore;
  /** What every session is opened with. */
  readonly session: Pick<SessionOptions, "transports" | "executor" | "answerQuery" | "limits" | "clock" | "random">;
  readonly now: () => number;
  /** Asked before a message of the user is sent; a text is the reason not to. */
  readonly beforePrompt?: (conversationId: string, text: string) => Promise<string | undefined>;
  /** Told of the end of every turn of the user. */
  readonly afterTurn?: (conversationId: string, outcome: RunOutcome) => void;
}

/** A hook of the user does not let a message be sent. */
export class PromptRefused extends Error {
  override readonly name = "PromptRefused";
}

/** What is chosen for a turn; what is left out stays as it was. */
export interface TurnOptions {
  readonly model?: string;
  readonly mode?: AgentMode;
}

/** A conversation and its newest state, as this client has it. One turn at a time. */
export class Conversation {
  readonly #services: ConversationServices;
  #stored: StoredConversation;
  #state: ConversationStateStructure;

  private constructor(services: ConversationServices, stored: StoredConversation, state: ConversationStateStructure) {
    this.#services = services;
    this.#stored = stored;
    this.#state = state;
  }

  /** A new conversation; it is stored with its first turn. */
  static start(
    services: ConversationServices,
    facts: {
      readonly workspace: string;
      readonly id?: string;
      readonly parent?: string;
      readonly subagentType?: string;
    },
  ): Conversation {
    const { id = `agent-${randomUUID()}`, ...rest } = facts;
    const stored = { id, title: "", updatedAt: services.now(), ...rest };
    return new Conversation(services, stored, create(ConversationStateStructureSchema));
  }

  /** A stored one as its newest checkpoint left it. Throws when that is damaged. */
  static async resume(services: ConversationServices, stored: StoredConversation): Promise<Conversation> {
    const state = await loadCheckpoint(services.store, stored);
    if (stored.root !== undefined && !state)
      throw new Error(`the newest state of conversation ${stored.id} is damaged`);
    return new Conversation(services, stored, state ?? create(ConversationStateStructureSchema));
  }

  get stored(): StoredConversation {
    return this.#stored;
  }

  /** The newest state, as the server sent it. */
  get state(): ConversationStateStructure {
    return this.#state;
  }

  /** A conversation of its own that goes on from here. */
  async fork(): Promise<Conversation> {
    const id = `agent-${randomUUID()}`;
    const stored = { ...this.#stored, id, parent: this.#stored.id, updatedAt: this.#services.now() };
    await this.#services.store.saveConversation(stored);
    return new Conversation(this.#services, stored, this.#state);
  }

  /** Begins a turn with a message of the user. Rejects with PromptRefused, or when the store cannot be written. */
  async say(text: string, options: TurnOptions = {}): Promise<Session> {
    const { beforePrompt, afterTurn } = this.#services;
    const refusal = await beforePrompt?.(this.#stored.id, text);
    if (refusal !== undefined) throw new PromptRefused(refusal);
    const title = this.#stored.title || (text.trim().split("\n", 1)[0] ?? "").slice(0, 80);
    await this.#choose(title, options);
    const session = this.begin({
      action: { action: { case: "userMessageAction", value: { userMessage: { text, mode: options.mode } } } },
      requestedModel: { modelId: this.#stored.model ?? "default" },
    });
    void session.outcome.then((outcome) => afterTurn?.(this.#stored.id, outcome));
    return session;
  }

  /** Goes on from the newest state without a new message: for a turn that a server could not finish. */
  async goOn(options: TurnOptions = {}): Promise<Session> {
    await this.#choose(this.#stored.title, options);
    return this.begin({
      action: { action: { case: "resumeAction", value: {} } },
      requestedModel: { modelId: this.#stored.model ?? "default" },
    });
  }

  /** Begins a turn with a request whose conversation and state are filled in. */
  begin(request: RunRequestInit): Session {
    const { session, store } = this.#services;
    const whole = create(AgentRunRequestSchema, request);
    whole.conversationState = this.#state;
    whole.conversationId = this.#stored.id;
    // Present and empty: this client brings no tools of its own.
    whole.mcpTools = create(McpToolsSchema);
    return new Session({
      ...session,
      store,
      request: whole,
      onCheckpoint: async (state) => {
        this.#state = state;
        this.#stored = await saveCheckpoint(store, { ...this.#stored, updatedAt: this.#services.now() }, state);
      },
    });
  }

  async #choose(title: string, { model, mode }: TurnOptions): Promise<void> {
    this.#stored = {
      ...this.#stored,
      title,
      updatedAt: this.#services.now(),
      ...(model === undefined ? {} : { model }),
      ...(mode === undefined ? {} : { mode }),
    };
    await this.#services.store.saveConversation(this.#stored);
  }
}
