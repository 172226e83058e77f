import type { ContextFacts, RuleFacts, SubagentFacts } from "./context-facts.js";
import { leftOutNotice } from "./cut-text.js";
import { environmentText } from "./environment-section.js";
import { block, labelled, lines, paragraphs } from "./markup.js";
import { configuredSection, type Section } from "./section.js";

/** What the client configured, as sections in their fixed order; those without content are absent. */
export function configuredSections(context: ContextFacts | null, customSystemPrompt: string): Section[] {
  const sections = [
    context && configuredSection("environment", environmentText(context)),
    context && configuredSection("rules", rulesText(context)),
    context && configuredSection("project_instructions", projectFilesText(context)),
    context && configuredSection("skills", skillsText(context)),
    context && configuredSection("mcp_servers", mcpText(context)),
    context && configuredSection("subagents", subagentsText(context)),
    context && configuredSection("permissions", permissionsText(context)),
    context && configuredSection("hook_context", context.hooks.context),
    configuredSection("custom_instructions", customSystemPrompt),
  ];
  return sections.filter((section) => section !== null);
}

function rulesText({ rules, rulesLeftOut }: ContextFacts): string {
  const onRequest = rules.filter((rule) => rule.kind === "on-request");
  return paragraphs(
    ...rules.filter((rule) => rule.kind !== "on-request").map(ruleText),
    onRequest.length === 0
      ? ""
      : lines(
          "Read the file of a rule below when its description fits what you are about to do:",
          ...onRequest.map((rule) => `- ${rule.path}${scopeNote(rule)}: ${rule.text}`),
        ),
    leftOutNotice(rulesLeftOut, "rules, which can be read from their files"),
  );
}

function ruleText(rule: RuleFacts): string {
  const { path, source } = rule;
  const scopes = rule.scopes.join(", ");
  return block("rule", { path, from: source, for: rule.globs.join(", "), below: scopes }, rule.text);
}

function scopeNote(rule: RuleFacts): string {
  return rule.scopes.length > 0 ? ` (for ${rule.scopes.join(", ")})` : "";
}

function projectFilesText({ projectFiles, projectFilesLeftOut }: ContextFacts): string {
  return paragraphs(
    ...projectFiles.map(({ path, text }) => block("file", { path }, text)),
    leftOutNotice(projectFilesLeftOut, "files, which can be read"),
  );
}

function skillsText({ skills, skillsLeftOut }: ContextFacts): string {
  return lines(
    ...skills.map((skill) => `- ${skill.name} (${skill.path})${skill.text === "" ? "" : `: ${skill.text}`}`),
    leftOutNotice(skillsLeftOut, "guides"),
  );
}

function mcpText({ mcpServers, mcpServersLeftOut }: ContextFacts): string {
  return paragraphs(
    // A server without instructions is known by its tools; naming it here would change nothing but the prefix.
    ...mcpServers.map(({ name, identifier, text }) =>
      block("server", { name, identifier: identifier === name ? "" : identifier }, text),
    ),
    leftOutNotice(mcpServersLeftOut, "servers"),
  );
}

function subagentsText({ subagents, subagentsLeftOut }: ContextFacts): string {
  return lines(
    ...subagents.map((subagent) => `- ${subagent.name}${traits(subagent)}: ${subagent.text || "(no description)"}`),
    leftOutNotice(subagentsLeftOut, "kinds of subagents"),
  );
}

function traits(subagent: SubagentFacts): string {
  const traits = [
    subagent.readonly ? "read-only" : "",
    subagent.background ? "in the background" : "",
    subagent.model === "inherit" ? "" : `model ${subagent.model}`,
  ].filter((trait) => trait !== "");
  return traits.length > 0 ? ` (${traits.join(", ")})` : "";
}

function permissionsText({ permissions }: ContextFacts): string {
  return lines(
    labelled("Commands the administrator forbids", permissions.deniedCommands.join(", ")),
    ...permissions.block.map((text) => `- Not without asking: ${text}`),
    ...permissions.allow.map((text) => `- May run without asking: ${text}`),
  );
}
