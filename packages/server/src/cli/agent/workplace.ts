import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  FileStore,
  LocalAgent,
  type Policy,
  type PolicyAnswer,
  type PolicyQuestion,
  ProjectPolicy,
  PromptRefused,
  type SessionOptions,
} from "@keyturn/client";
import { CliError, type Terminal } from "../terminal.js";
import { exitCode } from "./exit-codes.js";
import { type OpenedServer, openServer, type ServerOptions } from "./open-server.js";

/** Options of the verbs that let an agent work here. */
export interface WorkplaceOptions extends ServerOptions {
  readonly model?: string;
  readonly mode?: string;
  readonly yes?: boolean;
  readonly conversation?: string;
  readonly continue?: boolean;
  readonly projectSettings?: boolean;
}

/** How a person is asked; missing where there is none. */
export interface Person {
  readonly askUser: (question: PolicyQuestion) => Promise<PolicyAnswer>;
  readonly answerQuery: NonNullable<SessionOptions["answerQuery"]>;
}

/** Everything a turn needs, in the folder the command was called in. */
export interface Workplace {
  readonly opened: OpenedServer;
  readonly agent: LocalAgent;
  /** Actions that were denied because nobody could be asked. */
  readonly denials: () => number;
  /** Ends what was started, in the right order. */
  close(): Promise<void>;
}

/** Opens server, store, policy and hands. Rejects with CliError, in words for the user; nothing stays open then. */
export async function openWorkplace(
  terminal: Terminal,
  options: WorkplaceOptions,
  person: Person | undefined,
): Promise<Workplace> {
  const opened = await openServer(terminal, options);
  try {
    const workspace = terminal.workingDirectory;
    const dataFolder = join(opened.dataDir, "client");
    const project = createHash("sha256").update(workspace).digest("hex").slice(0, 16);
    let denied = 0;
    const rules = await ProjectPolicy.open({
      workspaces: [workspace],
      file: join(dataFolder, "projects", project, "policy.json"),
      yes: options.yes === true,
      askUser: person?.askUser,
    });
    const policy: Policy = {
      decide: async (action) => {
        const decision = await rules.decide(action);
        if (!decision.allow && !person) denied += 1;
        return decision;
      },
    };
    const agent = await LocalAgent.open({
      server: opened.server,
      store: await FileStore.open(dataFolder),
      workspace,
      dataFolder,
      policy,
      settings: options.projectSettings ? "project" : "none",
      answerQuery: person?.answerQuery,
      environment: { ...terminal.environment },
    });
    const close = async () => {
      await agent.close();
      await opened.close();
    };
    return { opened, agent, denials: () => denied, close };
  } catch (cause) {
    await opened.close();
    throw asCliError(cause);
  }
}

/** The conversation that the options name, or a new one. Rejects with CliError when there is none such. */
export async function conversationOf(agent: LocalAgent, options: WorkplaceOptions) {
  try {
    if (options.conversation === undefined && !options.continue) return agent.start();
    const found = await agent.resume(options.conversation);
    if (found) return found;
  } catch (cause) {
    throw asCliError(cause);
  }
  const message =
    options.conversation === undefined
      ? `no conversation was held in ${agent.workspace} yet; leave out --continue`
      : `there is no conversation ${options.conversation} here`;
  throw new CliError(message, { exitCode: exitCode.usage });
}

/** Trouble with this machine in words: a full or read-only disk, a broken policy file. */
export function asCliError(cause: unknown): CliError {
  if (cause instanceof CliError) return cause;
  if (cause instanceof PromptRefused) return new CliError(cause.message, { cause, exitCode: exitCode.refused });
  const { code, path } = (cause ?? {}) as NodeJS.ErrnoException;
  const where = path === undefined ? "" : ` (${path})`;
  if (code === "ENOSPC") return new CliError(`the disk is full${where}`, { cause });
  if (code === "EROFS" || code === "EACCES") return new CliError(`nothing can be written${where}: ${code}`, { cause });
  return new CliError(cause instanceof Error ? cause.message : String(cause), { cause });
}
