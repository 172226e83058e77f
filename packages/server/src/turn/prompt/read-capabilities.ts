import type { CustomSubagent, RequestContext } from "@keyturn/protocol/agent";
import { CustomSubagentPermissionMode } from "@keyturn/protocol/agent";
import type { McpServerFacts, SkillFacts, SubagentFacts } from "./context-facts.js";
import { cutText, type Fitted, fitTexts, oneLine, sortedBy } from "./cut-text.js";
import { promptLimits } from "./prompt-limits.js";

/** The skills by path, each once, without those only a person may start. */
export function readSkills(context: RequestContext): Fitted<SkillFacts> {
  const skills = new Map<string, SkillFacts>();
  const hidden = new Set<string>();
  for (const skill of sortedBy(context.agentSkills, (one) => one.fullPath)) {
    const path = oneLine(skill.fullPath);
    if (skill.disableModelInvocation) hidden.add(path);
    else if (!skills.has(path)) skills.set(path, { name: skillName(path), path, text: skill.description.trim() });
  }
  for (const skill of context.skillOptions?.skillDescriptors ?? []) {
    const path = oneLine(skill.readmeFilePath || skill.folderPath);
    if (!skill.enabled) skills.delete(path);
    else if (!skills.has(path) && !hidden.has(path))
      skills.set(path, { name: oneLine(skill.name) || skillName(path), path, text: skill.description.trim() });
  }
  return fitTexts(
    sortedBy([...skills.values()], (skill) => skill.path),
    promptLimits.skills,
    (skill) => skill.path,
  );
}

/** The MCP servers by identifier with their instructions, from wherever the client lists them. */
export function readMcpServers(context: RequestContext): Fitted<McpServerFacts> {
  const servers = new Map<string, McpServerFacts>();
  const add = (identifier: string, name: string, instructions: string): void => {
    const key = oneLine(identifier || name);
    const known = servers.get(key);
    if (key === "" || (known && known.text !== "")) return;
    servers.set(key, { identifier: key, name: known?.name ?? oneLine(name || identifier), text: instructions.trim() });
  };
  // One server may speak in all three lists, and older clients leave its identifier out of the first.
  const identifiers = new Map(descriptorsOf(context).map((server) => [server.serverName, server.serverIdentifier]));
  for (const server of sortedBy(context.mcpInstructions, (one) => `${one.serverIdentifier}\n${one.serverName}`))
    add(server.serverIdentifier || identifiers.get(server.serverName) || "", server.serverName, server.instructions);
  for (const server of descriptorsOf(context))
    add(server.serverIdentifier, server.serverName, server.serverUseInstructions ?? "");
  return fitTexts(
    sortedBy([...servers.values()], (server) => server.identifier),
    promptLimits.mcpInstructions,
    (server) => server.name,
  );
}

/** The client's own subagent types by name. */
export function readSubagents(context: RequestContext): Fitted<SubagentFacts> {
  const named = context.customSubagents.filter((subagent) => subagent.name !== "");
  const facts = sortedBy(named, (subagent) => subagent.name).map((subagent) => ({
    name: oneLine(subagent.name),
    text: subagent.description.trim(),
    model: oneLine(subagent.model) || "inherit",
    readonly: isReadonly(subagent),
    background: subagent.isBackground,
  }));
  return fitTexts(facts, promptLimits.subagents, (subagent) => subagent.name);
}

/**
 * The prompt a subagent type was defined with, bounded; undefined when the context does not define the type. A child
 * run finds its own prompt by this: its request only names the type.
 */
export function subagentPromptOf(context: RequestContext, subagentType: string): string | undefined {
  const found = context.customSubagents.find((subagent) => subagent.name === subagentType);
  return found && cutText(found.prompt, promptLimits.subagentPrompt);
}

/** True when the client marks a subagent type as one that must not change anything. */
export function isReadonly(subagent: CustomSubagent): boolean {
  return subagent.permissionMode === CustomSubagentPermissionMode.READONLY;
}

function descriptorsOf(context: RequestContext) {
  return sortedBy(
    [...(context.mcpMetaToolOptions?.mcpDescriptors ?? []), ...(context.mcpFileSystemOptions?.mcpDescriptors ?? [])],
    (server) => `${server.serverIdentifier}\n${server.serverName}`,
  );
}

/** `/x/skills/release-notes/SKILL.md` is the skill `release-notes`. */
function skillName(path: string): string {
  const names = path.split(/[/\\]/).filter((name) => name !== "");
  if (/^(?:skill|readme)\.md$/i.test(names.at(-1) ?? "")) names.pop();
  return names.at(-1)?.replace(/\.mdc?$/i, "") ?? path;
}
