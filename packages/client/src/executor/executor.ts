import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type {
  ExecServerMessage,
  RequestContext,
  RequestContextArgs,
  SubagentArgs,
  SubagentResult,
} from "@keyturn/protocol/agent";
import type { Policy } from "../policy/policy.js";
import { executeBackgroundSpawn, executeForceBackground, executeWriteStdin } from "./background-shell.js";
import { executeDelete } from "./delete.js";
import { executeDiagnostics } from "./diagnostics.js";
import { executeHook } from "./execute-hook.js";
import { type Call, type Execution, ExecutionFailure, type ExecutionJournal } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import { executeFetch } from "./fetch.js";
import { Gate } from "./gate.js";
import { executeGrep } from "./grep.js";
import { Hooks } from "./hooks.js";
import { IgnoreFiles } from "./ignore-files.js";
import { executeLs } from "./ls.js";
import { executeMcp } from "./mcp.js";
import { type ConfiguredServer, type McpServerConfig, readProjectServers } from "./mcp-config.js";
import { executeListResources, executeReadResource } from "./mcp-resources.js";
import { McpServers } from "./mcp-servers.js";
import { executeMcpState } from "./mcp-state.js";
import { OnceOnly } from "./once-only.js";
import { ProcessTrees } from "./process-trees.js";
import { executeRead } from "./read.js";
import { executeRequestContext, readRequestContext } from "./request-context.js";
import { executeShell } from "./shell.js";
import { executeShellStream } from "./shell-stream.js";
import { Shells } from "./shells.js";
import { executeWrite } from "./write.js";

export type { Policy, PolicyAction, PolicyDecision } from "../policy/policy.js";
export { type Execution, ExecutionFailure, type ExecutionJournal } from "./execution.js";
export type { McpServerConfig } from "./mcp-config.js";

/** What an executor works with. */
export interface ExecutorOptions {
  /** Absolute. */
  readonly workspace: string;
  /** Further workspaces. */
  readonly workspaces?: readonly string[];
  readonly policy: Policy;
  /** Without one, what is offered again after a restart is done again. */
  readonly journal?: ExecutionJournal;
  readonly mcpServers?: { readonly [name: string]: McpServerConfig };
  /** Whether rules, hooks, subagents and MCP servers that the project itself brings are used. Default: none. */
  readonly settings?: "none" | "project";
  /** For output of terminals and tools; made if needed. */
  readonly dataFolder: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Runs a subagent; the session's job. Without it such requests have no handler. */
  readonly subagent?: (args: SubagentArgs, signal: AbortSignal) => Promise<SubagentResult>;
}

/** Carries out on this machine what the server asks for. */
export class Executor {
  readonly #context: ExecutorContext;
  readonly #once: OnceOnly;
  readonly #subagent: ExecutorOptions["subagent"];

  private constructor(context: ExecutorContext, options: ExecutorOptions) {
    this.#context = context;
    this.#once = new OnceOnly(options.journal);
    this.#subagent = options.subagent;
  }

  /** Prepares the data folder and reads the project's settings. Throws when hooks or settings are broken. */
  static async open(options: ExecutorOptions): Promise<Executor> {
    return new Executor(await openContext(options), options);
  }

  /**
   * Carries out one request: sends 0..n messages and resolves when it is over; the session then closes its stream. An
   * aborted request ends without rejecting. Throws {@link ExecutionFailure} for what is to be told as `throw`.
   */
  async execute(execution: Execution): Promise<void> {
    try {
      await this.#once.run(execution, (call) => this.#dispatch(execution.message.message, call));
    } catch (cause) {
      if (cause instanceof ExecutionFailure) throw cause;
      if (execution.signal.aborted) return;
      throw new ExecutionFailure(cause instanceof Error ? cause.message : String(cause), { cause });
    }
  }

  /** What the server is told of machine and workspace. */
  requestContext(args: RequestContextArgs): Promise<RequestContext> {
    return readRequestContext(args, this.#context);
  }

  /** The user's hooks, for the events of the session itself (`beforeSubmitPrompt`, `stop`). */
  get hooks(): Pick<Hooks, "events" | "run"> {
    return this.#context.hooks;
  }

  /** Ends every process that was started, with all they started, and the MCP servers. */
  async close(): Promise<void> {
    await Promise.all([this.#context.mcp.close(), this.#context.shells.close()]);
    await this.#context.processes.close();
  }

  async #dispatch(message: ExecServerMessage["message"], call: Call): Promise<void> {
    const context = this.#context;
    switch (message.case) {
      case "readArgs":
        return executeRead(message.value, call, context);
      case "writeArgs":
        return executeWrite(message.value, call, context);
      case "deleteArgs":
        return executeDelete(message.value, call, context);
      case "grepArgs":
        return executeGrep(message.value, call, context);
      case "lsArgs":
        return executeLs(message.value, call, context);
      case "diagnosticsArgs":
        return executeDiagnostics(message.value, call, context);
      case "shellArgs":
        return executeShell(message.value, call, context);
      case "shellStreamArgs":
        return executeShellStream(message.value, call, context);
      case "backgroundShellSpawnArgs":
        return executeBackgroundSpawn(message.value, call, context);
      case "writeShellStdinArgs":
        return executeWriteStdin(message.value, call, context);
      case "forceBackgroundShellArgs":
        return executeForceBackground(message.value, call, context);
      case "mcpArgs":
        return executeMcp(message.value, call, context);
      case "mcpStateExecArgs":
        return executeMcpState(message.value, call, context);
      case "listMcpResourcesExecArgs":
        return executeListResources(message.value, call, context);
      case "readMcpResourceExecArgs":
        return executeReadResource(message.value, call, context);
      case "fetchArgs":
        return executeFetch(message.value, call, context);
      case "requestContextArgs":
        return executeRequestContext(message.value, call, context);
      case "executeHookArgs":
        return executeHook(message.value, call, context);
      case "subagentArgs":
        return this.#runSubagent(message.value, call);
      default:
        throw noHandler(message.case);
    }
  }

  async #runSubagent(args: SubagentArgs, call: Call): Promise<void> {
    if (!this.#subagent) throw noHandler("subagentArgs");
    await call.begin();
    call.answer({ case: "subagentResult", value: await this.#subagent(args, call.signal) });
  }
}

function noHandler(kind: string | undefined): ExecutionFailure {
  return new ExecutionFailure(`No handler found for server message of type ${kind ?? "undefined"}`);
}

async function openContext(options: ExecutorOptions): Promise<ExecutorContext> {
  const environment = options.environment ?? process.env;
  const now = options.clock ?? Date.now;
  const workspace = resolve(options.workspace);
  const workspaces = [...new Set([workspace, ...(options.workspaces ?? []).map((folder) => resolve(folder))])];
  const root = resolve(options.dataFolder);
  const folders = { root, terminals: join(root, "terminals"), toolOutput: join(root, "agent-tools") };
  await Promise.all([folders.terminals, folders.toolOutput].map((folder) => mkdir(folder, { recursive: true })));
  const useProjectSettings = options.settings === "project";
  const processes = new ProcessTrees();
  const hooks = await Hooks.open(workspaces, useProjectSettings, processes, environment);
  const own = Object.entries(options.mcpServers ?? {}).map(([name, config]) => ({ name, config, fromProject: false }));
  const brought = useProjectSettings ? await readProjectServers(workspaces, environment) : [];
  const names = new Set(own.map(({ name }) => name));
  const servers = [...own, ...brought.filter(({ name }) => !names.has(name))];
  const mayStart = (server: ConfiguredServer) => startRefusal(server, options.policy);
  return {
    workspaces,
    workspace,
    folders,
    environment,
    useProjectSettings,
    now,
    hooks,
    processes,
    gate: new Gate(options.policy, hooks, [folders.terminals, folders.toolOutput]),
    ignored: new IgnoreFiles(workspaces),
    shells: new Shells(workspace, folders, processes, environment, now),
    mcp: new McpServers(servers, { processes, workspace, mayStart }),
  };
}

/** A server that the user configured may start; one that a project brings is a command from a stranger. */
async function startRefusal({ name, config, fromProject }: ConfiguredServer, policy: Policy): Promise<string | null> {
  if (!fromProject) return null;
  const what =
    "command" in config ? { command: [config.command, ...(config.args ?? [])].join(" ") } : { url: config.url };
  const decision = await policy.decide({ tool: "mcp-server", server: name, ...what });
  return decision.allow ? null : decision.reason;
}
