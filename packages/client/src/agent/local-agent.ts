import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Executor, type ExecutorOptions } from "../executor/executor.js";
import { FileJournal } from "../executor/file-journal.js";
import type { AgentServer } from "../session/agent-server.js";
import { systemClock } from "../session/clock.js";
import type { SessionOptions } from "../session/session-options.js";
import type { ClientStore } from "../store/client-store.js";
import { Conversation, type ConversationServices } from "./conversation.js";
import { type SubagentListener, Subagents } from "./subagents.js";
import { TurnHooks } from "./turn-hooks.js";

/** What an agent on this machine is made of. */
export interface LocalAgentOptions
  extends Pick<ExecutorOptions, "policy" | "settings" | "mcpServers" | "environment">,
    Pick<SessionOptions, "answerQuery" | "limits" | "clock" | "random"> {
  readonly server: Pick<AgentServer, "transports">;
  readonly store: ClientStore;
  readonly workspace: string;
  /** For output of tools, and the journal of what was carried out; made if needed. */
  readonly dataFolder: string;
  readonly subagentListener?: SubagentListener;
}

/**
 * A server as the head, this machine as the hands: conversations in one folder, whose tools run here. Close it: that ends every
 * process that was started.
 */
export class LocalAgent {
  readonly workspace: string;
  /** Those that run at the moment. */
  readonly subagents: Subagents;
  readonly #services: ConversationServices;
  readonly #executor: Executor;
  readonly #hooks: TurnHooks;
  readonly #journal: FileJournal;
  readonly #journalFolder: string;

  private constructor(
    workspace: string,
    services: ConversationServices,
    executor: Executor,
    subagents: Subagents,
    hooks: TurnHooks,
    journal: { readonly file: FileJournal; readonly folder: string },
  ) {
    this.workspace = workspace;
    this.#services = services;
    this.#executor = executor;
    this.subagents = subagents;
    this.#hooks = hooks;
    this.#journal = journal.file;
    this.#journalFolder = journal.folder;
  }

  /** Prepares the hands. Rejects when the data folder cannot be written, or when settings of the project are broken. */
  static async open(options: LocalAgentOptions): Promise<LocalAgent> {
    const { server, store, dataFolder, answerQuery, limits, random, clock = systemClock } = options;
    const workspace = resolve(options.workspace);
    // A process of its own for each journal: what a former one was asked is never offered to this one.
    const folder = join(dataFolder, "journals", `${process.pid}-${randomUUID()}`);
    const journal = await FileJournal.open(folder);
    let services: ConversationServices | undefined;
    const subagents = new Subagents(() => present(services), workspace, options.subagentListener);
    try {
      const { policy, settings, mcpServers, environment } = options;
      const executor = await Executor.open({
        workspace,
        policy,
        settings,
        mcpServers,
        environment,
        dataFolder,
        journal,
        subagent: subagents.run,
      });
      const session = { transports: server.transports, executor, answerQuery, limits, clock, random };
      const hooks = new TurnHooks(executor.hooks);
      services = {
        store,
        session,
        now: () => clock.now(),
        beforePrompt: hooks.beforePrompt,
        afterTurn: hooks.afterTurn,
      };
      return new LocalAgent(workspace, services, executor, subagents, hooks, { file: journal, folder });
    } catch (cause) {
      await journal.close();
      await rm(folder, { recursive: true, force: true });
      throw cause;
    }
  }

  /** A new conversation in this folder. */
  start(): Conversation {
    return Conversation.start(this.#services, { workspace: this.workspace });
  }

  /** A conversation of the store; the newest one of this folder without an id. Undefined when there is none. */
  async resume(id?: string): Promise<Conversation | undefined> {
    const { store } = this.#services;
    const stored = id === undefined ? await store.newestConversation(this.workspace) : await store.conversation(id);
    return stored && Conversation.resume(this.#services, stored);
  }

  /** Ends subagents and every process that was started. Sessions should have ended before. */
  async close(): Promise<void> {
    await this.subagents.close();
    await this.#hooks.settled();
    await this.#executor.close();
    await this.#journal.close();
    await rm(this.#journalFolder, { recursive: true, force: true });
  }
}

function present(services: ConversationServices | undefined): ConversationServices {
  if (!services) throw new Error("the agent is not open yet");
  return services;
}
