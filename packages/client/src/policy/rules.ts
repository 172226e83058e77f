import { homedir } from "node:os";
import { resolve, sep } from "node:path";
import { pathGlob, textGlob } from "./glob.js";
import type { PolicyAction } from "./policy.js";
import type { SplitCommand } from "./split-command.js";

/** What a rule does with the actions it matches. */
export type Effect = "allow" | "ask" | "deny";

/**
 * One line of a policy. Every field that is given has to match; a rule without fields matches everything.
 * `command` without `*` matches commands that begin with these words, with `*` it is a pattern for one whole program call.
 * `path` is relative to the workspace, absolute or begins with `~/`; without a wildcard it includes all below it.
 */
export interface PolicyRule {
  readonly effect: Effect;
  readonly tool?: string;
  readonly command?: string;
  readonly path?: string;
  readonly server?: string;
  readonly url?: string;
}

/** An action with what is known of it: its path with links resolved, and the one program call that is looked at. */
export interface ActionFacts {
  readonly action: PolicyAction;
  readonly realPath?: string;
  readonly call?: string;
}

/** True when all that the rule says of an action holds. */
export function matchesRule(rule: PolicyRule, facts: ActionFacts, workspace: string): boolean {
  const { action } = facts;
  if (rule.tool !== undefined && !textGlob(rule.tool).test(action.tool)) return false;
  if (rule.server !== undefined && !textGlob(rule.server).test(action.server ?? "")) return false;
  if (rule.url !== undefined && !matchesText(rule.url, action.url)) return false;
  if (rule.command !== undefined && !matchesCommand(rule.command, facts)) return false;
  return rule.path === undefined || matchesPath(rule.path, rule.effect, facts, workspace);
}

/** True for a rule against a command whose words occur somewhere in a line that hides what it runs. */
export function mayMatchHidden(rule: PolicyRule, facts: ActionFacts, split: SplitCommand, workspace: string): boolean {
  if (!split.opaque || rule.effect === "allow" || rule.command === undefined) return false;
  const words = (rule.command.split("*")[0] ?? "").trim();
  const { command: _, ...rest } = rule;
  return words !== "" && (facts.action.command ?? "").includes(words) && matchesRule(rest, facts, workspace);
}

function matchesCommand(pattern: string, { action, call }: ActionFacts): boolean {
  if (pattern === action.command) return true;
  if (call === undefined) return pattern === "*";
  if (pattern.includes("*")) return textGlob(pattern).test(call);
  return call === pattern || call.startsWith(`${pattern} `);
}

function matchesText(pattern: string, text: string | undefined): boolean {
  if (text === undefined) return false;
  return pattern.includes("*") ? textGlob(pattern).test(text) : text.startsWith(pattern);
}

function matchesPath(
  pattern: string,
  effect: Effect,
  { action, realPath = action.path }: ActionFacts,
  workspace: string,
): boolean {
  if (action.path === undefined || realPath === undefined) return false;
  if (pattern === realPath) return true;
  const home = pattern === "~" || pattern.startsWith("~/");
  const absolute = home ? resolve(homedir(), pattern.slice(2)) : resolve(workspace, pattern);
  const expression = pathGlob(slashes(absolute));
  const literal = !/[*?{]/.test(pattern);
  // An allow rule has to hold for where the path really lies, or a link could lead out of it.
  const paths = effect === "deny" ? [realPath, action.path] : [realPath];
  return paths.map(slashes).some((path) => {
    return expression.test(path) || (literal && path.startsWith(`${slashes(absolute).replace(/\/$/, "")}/`));
  });
}

function slashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
