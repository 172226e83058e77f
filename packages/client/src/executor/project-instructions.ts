import { basename } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AgentSkillSchema,
  type CursorRuleSchema,
  CustomSubagentPermissionMode,
  type CustomSubagentSchema,
} from "@keyturn/protocol/agent";
import type { ExecutorContext } from "./executor-context.js";
import { type FrontMatter, flagField, frontMatterOf, listField, textField } from "./front-matter.js";
import { type ProjectFile, ProjectFiles } from "./project-files.js";

type Rule = MessageInitShape<typeof CursorRuleSchema>;
type Skill = MessageInitShape<typeof AgentSkillSchema>;
type Subagent = MessageInitShape<typeof CustomSubagentSchema>;

/** What a project tells agents. */
export interface ProjectInstructions {
  readonly rules: Rule[];
  readonly skills: Skill[];
  readonly subagents: Subagent[];
}

const settingsFolders = [".cursor", ".keyturn"];

/**
 * Reads what a project tells agents: AGENTS.md, CLAUDE.md and .cursorrules in any folder, rules, skills and subagents of
 * `.cursor` and `.keyturn`, skills of `.claude` and `.agents`. Nothing when the project's settings are not to be used.
 */
export async function readInstructions(context: ExecutorContext): Promise<ProjectInstructions> {
  const found: ProjectInstructions = { rules: [], skills: [], subagents: [] };
  if (!context.useProjectSettings) return found;
  const files = new ProjectFiles(context);
  for (const root of context.workspaces) {
    for (const folder of settingsFolders) {
      const rules = await files.list(root, `${folder}/rules`, (path) => /\.mdc?$/.test(path));
      found.rules.push(...rules.map(ruleOf));
      const agents = await files.list(root, `${folder}/agents`, (path) => path.endsWith(".md"));
      found.subagents.push(...agents.map(subagentOf));
    }
    const general = await files.search(root, ["**/AGENTS.md", "**/CLAUDE.md", "**/.cursorrules"]);
    found.rules.push(...general.map(({ path, text }) => globalRule(path, text)));
    for (const folder of [...settingsFolders, ".claude", ".agents"]) {
      const skills = await files.list(root, `${folder}/skills`, (path) => basename(path) === "SKILL.md");
      found.skills.push(...skills.map(skillOf));
    }
  }
  // Skills are listed among the rules as well, as the ones the model reads when it decides to.
  for (const { fullPath = "", content = "", description = "" } of found.skills) {
    found.rules.push({ fullPath, content, type: { type: { case: "agentFetched", value: { description } } } });
  }
  return found;
}

function globalRule(fullPath: string, content: string): Rule {
  return { fullPath, content, type: { type: { case: "global", value: {} } } };
}

function ruleOf({ path, text }: ProjectFile): Rule {
  const head = frontMatterOf(text);
  return { fullPath: path, content: head.body, frontmatter: head.source, type: { type: ruleType(head, path) } };
}

function ruleType(head: FrontMatter, path: string): NonNullable<NonNullable<Rule["type"]>["type"]> {
  const globs = listField(head, "globs");
  const description = textField(head, "description");
  // A plain Markdown file without a head was written to be followed.
  const isPlain = head.source === "" && path.endsWith(".md");
  if (flagField(head, "alwaysApply") || isPlain) return { case: "global", value: {} };
  if (globs.length > 0) return { case: "fileGlobbed", value: { globs } };
  if (description !== "") return { case: "agentFetched", value: { description } };
  return { case: "manuallyAttached", value: {} };
}

function skillOf({ path, text }: ProjectFile): Skill {
  const head = frontMatterOf(text);
  return {
    fullPath: path,
    content: head.body,
    description: textField(head, "description"),
    disableModelInvocation: flagField(head, "disable-model-invocation"),
    globs: listField(head, "globs"),
  };
}

function subagentOf({ path, text }: ProjectFile): Subagent {
  const head = frontMatterOf(text);
  const isReadonly = flagField(head, "readonly");
  return {
    fullPath: path,
    name: textField(head, "name") || basename(path, ".md"),
    description: textField(head, "description"),
    model: textField(head, "model") || "inherit",
    prompt: head.body.trim(),
    tools: listField(head, "tools"),
    isBackground: flagField(head, "is_background"),
    permissionMode: isReadonly ? CustomSubagentPermissionMode.READONLY : CustomSubagentPermissionMode.DEFAULT,
    source: "workspace",
  };
}
