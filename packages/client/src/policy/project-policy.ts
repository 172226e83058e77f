import { tmpdir } from "node:os";
import { judge, type Places, type Verdict } from "./judge.js";
import type { Policy, PolicyAction, PolicyDecision } from "./policy.js";
import { readPolicyFile, writePolicyFile } from "./policy-file.js";
import type { ActionFacts, PolicyRule } from "./rules.js";
import { realPathOf } from "./workspace-paths.js";

/** What a person answers: for this once, or from now on in this project. */
export type PolicyAnswer = "allow-once" | "allow-always" | "deny-once" | "deny-always";

/** What a person is asked. */
export interface PolicyQuestion {
  readonly action: PolicyAction;
  readonly why: string;
  /** What `allow-always` would remember. */
  readonly rule: PolicyRule;
}

/** How a project's policy is set up. */
export interface ProjectPolicyOptions {
  /** Absolute. */
  readonly workspaces: readonly string[];
  /** Where answers for always are remembered; people may edit it. */
  readonly file: string;
  /** Folders that commands may write to although they lie outside. Default: the one for temporary files. */
  readonly scratch?: readonly string[];
  /** Rules from elsewhere (command line, user settings); the file's come after them and so win over them, denials apart. */
  readonly rules?: readonly PolicyRule[];
  /** Asks a person. Without it what would be asked is denied. One question at a time. */
  readonly askUser?: (question: PolicyQuestion) => Promise<PolicyAnswer>;
  /** What would be asked is allowed; rules that deny still hold. */
  readonly yes?: boolean;
}

/** The policy of one project: rules, defaults, a person's answers. */
export class ProjectPolicy implements Policy {
  readonly #options: ProjectPolicyOptions;
  readonly #places: Places;
  #remembered: PolicyRule[];
  #asking: Promise<unknown> = Promise.resolve();

  private constructor(options: ProjectPolicyOptions, places: Places, remembered: PolicyRule[]) {
    this.#options = options;
    this.#places = places;
    this.#remembered = remembered;
  }

  /** Reads the project's remembered rules. Throws when they cannot be understood. */
  static async open(options: ProjectPolicyOptions): Promise<ProjectPolicy> {
    const workspaces = await Promise.all(options.workspaces.map((folder) => realPathOf(folder)));
    const scratch = await Promise.all((options.scratch ?? [tmpdir()]).map((folder) => realPathOf(folder)));
    return new ProjectPolicy(options, { workspaces, scratch }, await readPolicyFile(options.file));
  }

  async decide(action: PolicyAction): Promise<PolicyDecision> {
    const verdict = await this.#judge(action);
    if (verdict.effect === "allow" || (verdict.effect === "ask" && this.#options.yes === true)) return { allow: true };
    if (verdict.effect === "deny") return { allow: false, reason: `Denied by ${verdict.why}.` };
    const { askUser } = this.#options;
    if (!askUser) return { allow: false, reason: await this.#unasked(action, verdict) };
    const turn = this.#asking.then(() => this.#ask(action, askUser));
    this.#asking = turn.catch(() => undefined);
    return turn;
  }

  async #ask(action: PolicyAction, askUser: NonNullable<ProjectPolicyOptions["askUser"]>): Promise<PolicyDecision> {
    // The answer to an earlier question may have settled this one.
    const verdict = await this.#judge(action);
    if (verdict.effect === "allow") return { allow: true };
    if (verdict.effect === "deny") return { allow: false, reason: `Denied by ${verdict.why}.` };
    const rule = await ruleFor(action, "allow");
    const answer = await askUser({ action, why: verdict.why, rule });
    if (answer === "allow-always") await this.#remember(rule);
    if (answer === "deny-always") await this.#remember(await ruleFor(action, "deny"));
    if (answer === "allow-once" || answer === "allow-always") return { allow: true };
    return { allow: false, reason: "The user said no." };
  }

  async #judge(action: PolicyAction): Promise<Verdict> {
    const realPath = action.path === undefined ? undefined : await realPathOf(action.path);
    const facts: ActionFacts = { action, ...(realPath === undefined ? {} : { realPath }) };
    return judge(facts, [...(this.#options.rules ?? []), ...this.#remembered], this.#places);
  }

  async #remember(rule: PolicyRule): Promise<void> {
    this.#remembered = [...this.#remembered, rule];
    await writePolicyFile(this.#options.file, this.#remembered);
  }

  async #unasked(action: PolicyAction, { why }: Verdict): Promise<string> {
    const rule = JSON.stringify(await ruleFor(action, "allow"));
    return `This needs approval and nobody can be asked (${why}). To allow it, add the rule ${rule} to ${this.#options.file}, or run with --yes.`;
  }
}

/** The narrowest rule that covers an action. */
async function ruleFor(action: PolicyAction, effect: "allow" | "deny"): Promise<PolicyRule> {
  const { tool, command, path, server, url } = action;
  return {
    effect,
    tool,
    ...(command === undefined ? {} : { command }),
    // The folder a command runs in is not what was asked about.
    ...(path === undefined || command !== undefined ? {} : { path: await realPathOf(path) }),
    ...(server === undefined ? {} : { server }),
    ...(url === undefined ? {} : { url }),
  };
}
