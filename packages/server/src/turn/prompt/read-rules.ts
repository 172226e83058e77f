import type { CursorRule, RequestContext } from "@keyturn/protocol/agent";
import { CursorRuleSource } from "@keyturn/protocol/agent";
import type { FileFacts, RuleFacts } from "./context-facts.js";
import { type Fitted, fitTexts, notedList, oneLine } from "./cut-text.js";
import { promptLimits } from "./prompt-limits.js";

/** The rules of a context, apart from the files of instructions that people keep in their repositories. */
export interface ReadRules {
  readonly rules: Fitted<RuleFacts>;
  readonly projectFiles: Fitted<FileFacts>;
}

const projectFileName =
  /^(?:agents|claude|gemini)(?:\.local|\.override)?\.md$|^\.(?:cursor|windsurf|cline)rules$|^copilot-instructions\.md$/i;

/**
 * Sorts rules into those that always apply, those of certain files and those read on request. Rules that only a person
 * attaches, and team rules the user switched off, are not told.
 */
export function readRules(context: RequestContext): ReadRules {
  const skillPaths = new Set(context.agentSkills.map((skill) => skill.fullPath));
  const disabled = new Set(context.disabledTeamRules);
  const rules: RuleFacts[] = [];
  const projectFiles: FileFacts[] = [];
  const seen = new Set<string>();
  const isFirst = (...key: readonly string[]): boolean => {
    const text = JSON.stringify(key);
    return seen.has(text) ? false : Boolean(seen.add(text));
  };
  const cloudRule = context.cloudRule?.trim() ?? "";
  if (cloudRule !== "" && isFirst("always", cloudRule))
    rules.push({ path: "", kind: "always", source: "cloud", globs: [], scopes: [], text: cloudRule });
  // Rules of the user and the team first: a project with many rules must not push them out of the bound.
  for (const rule of [...context.nonFileRules, ...context.rules]) {
    const isTeam = rule.source === CursorRuleSource.TEAM;
    if (isTeam && !rule.isRequired && disabled.has(rule.fullPath)) continue;
    // A skill is listed among the rules as well; it is told once, as a skill.
    if (rule.type?.type.case === "agentFetched" && skillPaths.has(rule.fullPath)) continue;
    const facts = factsOf(rule);
    if (facts === null || facts.text === "") continue;
    const folder = folderOf(rule.fullPath);
    if (facts.kind === "always" && projectFileName.test(rule.fullPath.slice(folder.length))) {
      if (isFirst("file", folder, facts.text)) projectFiles.push({ path: facts.path, text: facts.text });
    } else {
      const path = facts.kind === "on-request" ? facts.path : "";
      if (isFirst(facts.kind, path, ...facts.globs, "", ...facts.scopes, facts.text)) rules.push(facts);
    }
  }
  return {
    rules: fitTexts(rules, promptLimits.rules, (rule) => rule.path || `a ${rule.source} rule`),
    projectFiles: fitTexts(projectFiles, promptLimits.projectFiles, (file) => file.path),
  };
}

function factsOf(rule: CursorRule): RuleFacts | null {
  const base = { path: oneLine(rule.fullPath), source: sourceOf(rule), scopes: notedList(rule.scopedTo) };
  const content = rule.content.trim();
  const type = rule.type?.type;
  switch (type?.case) {
    case "manuallyAttached":
      return null;
    case "agentFetched":
      return { ...base, kind: "on-request", globs: [], text: type.value.description.trim() };
    case "fileGlobbed":
      return { ...base, kind: "files", globs: notedList(type.value.globs), text: content };
    // An untyped rule (older clients) was written to be followed.
    case "global":
    case undefined:
      return { ...base, kind: "always", globs: [], text: content };
  }
}

function sourceOf(rule: CursorRule): RuleFacts["source"] {
  if (rule.source === CursorRuleSource.TEAM) return "team";
  return rule.source === CursorRuleSource.USER ? "user" : "project";
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
