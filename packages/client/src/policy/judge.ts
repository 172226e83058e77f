import { relative, resolve } from "node:path";
import { dangerOf } from "./dangerous-command.js";
import type { PolicyAction } from "./policy.js";
import { type ActionFacts, type Effect, matchesRule, mayMatchHidden, type PolicyRule } from "./rules.js";
import { type SplitCommand, splitCommand } from "./split-command.js";
import { isInside } from "./workspace-paths.js";

/** What rules and defaults say of an action, and why. */
export interface Verdict {
  readonly effect: Effect;
  readonly why: string;
}

/** The folders that judging needs, links resolved. */
export interface Places {
  readonly workspaces: readonly string[];
  /** Folders outside the workspace that may be written to all the same, such as the one for temporary files. */
  readonly scratch: readonly string[];
}

/** Files that make the next command or the next start run something: writing them is a way round every other rule. */
const guarded = /(?:^|[/\\])(?:\.git|\.keyturn)[/\\]|(?:^|[/\\])\.cursor[/\\](?:hooks\.json|mcp\.json|hooks[/\\])/;
const reading = new Set(["read", "grep", "ls"]);
const writing = new Set(["write", "delete"]);

/**
 * Judges an action. A deny rule that matches wins; otherwise the last rule that matches; otherwise the defaults: reading and
 * writing are allowed in the workspace and asked outside, commands are allowed unless they look dangerous, all else is
 * asked. A command line is as free as the least free of its program calls.
 */
export function judge(facts: ActionFacts, rules: readonly PolicyRule[], places: Places): Verdict {
  const verdict =
    facts.action.tool === "shell"
      ? judgeCommand(facts, rules, places)
      : (ruled(facts, rules, places) ?? byDefault(facts, places));
  const { mustAsk } = facts.action;
  return mustAsk !== undefined && verdict.effect === "allow" ? { effect: "ask", why: mustAsk } : verdict;
}

function ruled(facts: ActionFacts, rules: readonly PolicyRule[], places: Places): Verdict | null {
  const matching = rules.filter((rule) => matchesRule(rule, facts, places.workspaces[0] ?? "/"));
  const rule = matching.find((each) => each.effect === "deny") ?? matching.at(-1);
  return rule ? asVerdict(rule) : null;
}

function judgeCommand(facts: ActionFacts, rules: readonly PolicyRule[], places: Places): Verdict {
  const command = facts.action.command ?? "";
  const split = splitCommand(command);
  // A line that hides what runs, or that runs nothing, is only covered by rules for the whole of it.
  const calls: (string | undefined)[] = split.parts.map((part) => part.text);
  if (split.opaque || calls.length === 0) calls.push(undefined);
  const verdicts = calls.map((call) => ({ call, verdict: ruled({ ...facts, call }, rules, places) }));
  const hidden = rules.filter((rule) => mayMatchHidden(rule, facts, split, places.workspaces[0] ?? "/"));
  const strict = (effect: Effect): Verdict | undefined => {
    const rule = hidden.find((each) => each.effect === effect);
    if (rule) return asVerdict(rule);
    return verdicts.find(({ verdict }) => verdict?.effect === effect)?.verdict ?? undefined;
  };
  const exact = rules.some((rule) => rule.effect === "allow" && rule.command === command);
  const denied = strict("deny");
  if (denied) return denied;
  const asked = exact ? verdicts.find(({ verdict }) => verdict?.effect === "ask")?.verdict : strict("ask");
  if (asked) return asked;
  if (exact) return { effect: "allow", why: "a rule allows this very command" };
  const unruled = verdicts.filter(({ verdict }) => verdict === null);
  return commandByDefault(
    facts,
    places,
    split,
    unruled.map(({ call }) => call ?? command),
  );
}

function commandByDefault(
  facts: ActionFacts,
  places: Places,
  split: SplitCommand,
  unruled: readonly string[],
): Verdict {
  const isOutside = outsideOf(facts, places);
  const file = split.written.find((path) => path !== "/dev/null" && isOutside(path));
  if (file !== undefined) return { effect: "ask", why: `it writes to ${file}, outside the workspace` };
  const trusted = split.written.find((path) => isGuarded(resolve(facts.action.path ?? "/", path), places));
  if (trusted !== undefined) return { effect: "ask", why: `it writes to ${trusted}, which is run or trusted later` };
  if (unruled.length === 0) return { effect: "allow", why: "rules allow every part of it" };
  if (facts.realPath !== undefined && !lies(facts.realPath, [...places.workspaces, ...places.scratch]))
    return { effect: "ask", why: "it runs outside the workspace" };
  for (const call of unruled) {
    const danger = dangerOf(call, isOutside);
    if (danger !== null) return { effect: "ask", why: danger };
  }
  return { effect: "allow", why: "nothing about it looks dangerous" };
}

function asVerdict(rule: PolicyRule): Verdict {
  return { effect: rule.effect, why: `the rule ${JSON.stringify(rule)}` };
}

function byDefault({ action, realPath }: ActionFacts, places: Places): Verdict {
  const inWorkspace = realPath !== undefined && lies(realPath, places.workspaces);
  if (reading.has(action.tool)) {
    return inWorkspace ? { effect: "allow", why: "it reads in the workspace" } : outside(action);
  }
  if (!writing.has(action.tool)) return { effect: "ask", why: `no rule covers ${action.tool}` };
  if (!inWorkspace) return outside(action);
  if (isGuarded(realPath, places)) return { effect: "ask", why: "what stands in this file is run or trusted later" };
  return { effect: "allow", why: "it writes in the workspace" };
}

function isGuarded(path: string, places: Places): boolean {
  return places.workspaces.some((folder) => isInside(folder, path) && guarded.test(relative(folder, path)));
}

function outside({ path }: PolicyAction): Verdict {
  return { effect: "ask", why: `${path ?? "the path"} lies outside the workspace` };
}

function outsideOf({ action }: ActionFacts, places: Places): (path: string) => boolean {
  const base = action.path ?? places.workspaces[0] ?? "/";
  return (path) => {
    // What the shell will compute or a home folder cannot be resolved here.
    if (/^[~$]/.test(path)) return true;
    return !lies(resolve(base, path), [base, ...places.workspaces, ...places.scratch]);
  };
}

function lies(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isInside(folder, path));
}
