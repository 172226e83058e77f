import type { Policy, PolicyAction } from "../policy/policy.js";
import { isInside, realPathOf } from "../policy/workspace-paths.js";
import type { Hooks } from "./hooks.js";

/** An action with what its hooks are told. */
export interface GatedAction extends PolicyAction {
  readonly hook?: {
    /** The event of this kind of action, as `beforeShellExecution`. */
    readonly event?: string;
    /** The tool's name in the generic events. */
    readonly toolName: string;
    readonly input: { readonly [name: string]: unknown };
    readonly toolCallId: string;
  };
}

/** What stands between a request and the machine: hooks first, then the policy. */
export class Gate {
  readonly #policy: Policy;
  readonly #hooks: Hooks;
  readonly #ownFolders: readonly string[];

  /** `ownFolders` hold what the executor wrote for the agent to read; reading there needs no leave. */
  constructor(policy: Policy, hooks: Hooks, ownFolders: readonly string[]) {
    this.#policy = policy;
    this.#hooks = hooks;
    this.#ownFolders = ownFolders;
  }

  /** Why the action must not be done, or null. May wait for a person. */
  async refusal({ hook, ...action }: GatedAction): Promise<string | null> {
    let mustAsk: string | undefined;
    if (hook) {
      const verdict = await this.#hooks.before(hook);
      if (verdict.permission === "deny") return verdict.reason;
      if (verdict.permission === "ask") mustAsk = verdict.reason;
    }
    if (mustAsk === undefined && (await this.#readsOwn(action))) return null;
    const decision = await this.#policy.decide({ ...action, ...(mustAsk === undefined ? {} : { mustAsk }) });
    return decision.allow ? null : decision.reason;
  }

  async #readsOwn({ tool, path }: PolicyAction): Promise<boolean> {
    if (path === undefined || !["read", "grep", "ls"].includes(tool)) return false;
    const real = await realPathOf(path);
    const own = await Promise.all(this.#ownFolders.map((folder) => realPathOf(folder)));
    return own.some((folder) => isInside(folder, real));
  }
}
