import { join } from "node:path";
import { type HookEntry, readHooks } from "./hook-config.js";
import { limits } from "./limits.js";
import type { ProcessTrees } from "./process-trees.js";

/** What the hooks of one event said, taken together: the strictest permission, all texts. */
export interface HookAnswer {
  readonly permission: "allow" | "ask" | "deny";
  readonly userMessage?: string;
  readonly agentMessage?: string;
  readonly additionalContext?: string;
  readonly updatedInput?: unknown;
  readonly followupMessage?: string;
  /** The hook of a prompt said not to go on. */
  readonly stopped: boolean;
}

/** Whether an action may go ahead, and why not. */
export interface HookVerdict {
  readonly permission: HookAnswer["permission"];
  readonly reason: string;
}

/** What a hook is told of a tool call. */
export interface HookedCall {
  readonly event?: string;
  readonly toolName: string;
  readonly input: { readonly [name: string]: unknown };
  readonly toolCallId: string;
}

type Payload = { readonly [name: string]: unknown };
interface Output {
  readonly said: { readonly [name: string]: unknown };
  readonly blocked: boolean;
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

/**
 * Programs of the user that are told of what the agent does and may stop it (`.cursor/hooks.json`, `.keyturn/hooks.json`).
 * They get JSON on their input and may answer with JSON; exit code 2 denies. A hook that fails or takes too long is
 * passed over, unless it is marked `failClosed`.
 */
export class Hooks {
  readonly #workspaces: readonly string[];
  readonly #hooks: ReadonlyMap<string, readonly HookEntry[]>;
  readonly #processes: ProcessTrees;
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(
    workspaces: readonly string[],
    hooks: ReadonlyMap<string, readonly HookEntry[]>,
    processes: ProcessTrees,
    environment: NodeJS.ProcessEnv,
  ) {
    this.#workspaces = workspaces;
    this.#hooks = hooks;
    this.#processes = processes;
    this.#environment = environment;
  }

  /** Reads the hooks of the project; none when its settings are not to be used. */
  static async open(
    workspaces: readonly string[],
    enabled: boolean,
    processes: ProcessTrees,
    environment: NodeJS.ProcessEnv,
  ): Promise<Hooks> {
    const files = workspaces.flatMap((root) => [join(root, ".cursor/hooks.json"), join(root, ".keyturn/hooks.json")]);
    return new Hooks(workspaces, enabled ? await readHooks(files) : new Map(), processes, environment);
  }

  /** The events that have hooks. */
  get events(): string[] {
    return [...this.#hooks.keys()].sort();
  }

  /** Asks `preToolUse` and the event of this kind of call. */
  async before({ event, toolName, input, toolCallId }: HookedCall): Promise<HookVerdict> {
    const generic = { tool_name: toolName, tool_input: input, tool_use_id: toolCallId };
    for (const [name, payload] of [["preToolUse", generic], ...(event ? [[event, input]] : [])] as [
      string,
      Payload,
    ][]) {
      const answer = await this.run(name, payload);
      if (answer.permission === "allow") continue;
      const said = answer.userMessage ?? answer.agentMessage;
      const note = answer.userMessage && answer.agentMessage ? `\n\nAgent note: ${answer.agentMessage}` : "";
      const verb = answer.permission === "deny" ? "blocked by" : "needs approval after";
      return {
        permission: answer.permission,
        reason: `${toolName} ${verb} ${name} hook${said ? `: ${said}` : ""}${note}`,
      };
    }
    return { permission: "allow", reason: "" };
  }

  /** Tells `postToolUse` and the event of this kind of call how it went. */
  async after({ event, toolName, input, toolCallId }: HookedCall, outcome: Payload): Promise<void> {
    const generic = { tool_name: toolName, tool_input: input, tool_use_id: toolCallId, ...outcome };
    await this.run("postToolUse", generic);
    if (event) await this.run(event, { ...input, ...outcome });
  }

  /** Runs all hooks of an event, one after the other, until one denies. */
  async run(event: string, payload: Payload): Promise<HookAnswer> {
    let answer: HookAnswer = { permission: "allow", stopped: false };
    for (const hook of this.#hooks.get(event) ?? []) {
      if (hook.matcher && !hook.matcher.test(subjectOf(payload))) continue;
      answer = merge(
        answer,
        await this.#runOne(hook, { hook_event_name: event, workspace_roots: this.#workspaces, ...payload }),
      );
      if (answer.permission === "deny" || answer.stopped) break;
    }
    return answer;
  }

  async #runOne(hook: HookEntry, payload: Payload): Promise<Output> {
    const failed = (why: string): Output => ({
      said: hook.failClosed ? { user_message: `the hook ${why}` } : {},
      blocked: hook.failClosed,
    });
    try {
      const shell = process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c"] : ["/bin/sh", "-c"];
      const tree = await this.#processes.start(shell[0] ?? "", [...shell.slice(1), hook.command], {
        cwd: hook.root,
        env: { ...this.#environment, CURSOR_PROJECT_DIR: hook.root },
        stdio: ["pipe", "pipe", "ignore"],
      });
      let text = "";
      tree.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
        if (text.length < limits.hookOutputBytes) text += chunk;
      });
      tree.child.stdin?.on("error", () => undefined);
      tree.child.stdin?.end(JSON.stringify(payload));
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        void tree.kill();
      }, hook.timeoutMs);
      const closed = new Promise<void>((resolve) => tree.child.once("close", () => resolve()));
      const { code } = await tree.exited;
      await Promise.race([closed, tree.kill()]);
      clearTimeout(timer);
      if (timedOut) return failed(`did not answer within ${hook.timeoutMs} ms`);
      if (code === 2) return { said: parsed(text) ?? { user_message: text.trim() }, blocked: true };
      if (code !== 0) return failed(`ended with exit code ${String(code)}`);
      return { said: parsed(text) ?? {}, blocked: false };
    } catch (cause) {
      return failed(`could not be started (${cause instanceof Error ? cause.message : String(cause)})`);
    }
  }
}

/** What a matcher is compared with: the command, or else the name of the tool. */
function subjectOf(payload: Payload): string {
  const subject = payload.command ?? payload.tool_name ?? payload.file_path ?? "";
  return typeof subject === "string" ? subject : "";
}

function parsed(text: string): Output["said"] | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Output["said"]) : null;
  } catch {
    return null;
  }
}

function merge(before: HookAnswer, { said, blocked }: Output): HookAnswer {
  const text = (...names: string[]): string | undefined => {
    const value = names.map((name) => said[name]).find((each) => typeof each === "string" && each !== "");
    return typeof value === "string" ? value : undefined;
  };
  const asked = said.permission === "deny" || said.permission === "ask" ? said.permission : "allow";
  const permission = blocked ? "deny" : asked;
  const joined = (one: string | undefined, other: string | undefined): string | undefined =>
    one && other ? `${one}\n${other}` : (one ?? other);
  const updated = said.updated_input ?? said.updatedInput;
  return {
    permission: strictness[permission] > strictness[before.permission] ? permission : before.permission,
    userMessage: joined(before.userMessage, text("user_message", "userMessage")),
    agentMessage: joined(before.agentMessage, text("agent_message", "agentMessage")),
    additionalContext: joined(before.additionalContext, text("additional_context", "additionalContext")),
    followupMessage: before.followupMessage ?? text("followup_message", "followupMessage"),
    updatedInput: updated ?? before.updatedInput,
    stopped: before.stopped || said.continue === false || (blocked && said.continue !== true),
  };
}
