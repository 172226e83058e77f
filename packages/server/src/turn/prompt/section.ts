import { block, paragraphs } from "./markup.js";

/** One named part of the system message. */
export type Section = { readonly name: string; readonly text: string };

/** The sections that tell what the client configured, in the order they stand in; each is a block of its name. */
export const sectionIntroductions = {
  environment: "The user's machine.",
  rules: "Rules of the user, their team and this project. Where one says it was cut, read its file for the rest.",
  project_instructions:
    "Files of instructions found in the workspace. Each holds for its folder and what is below it; the nearest one goes first.",
  skills:
    "Guides for certain kinds of work. When one fits the task, read its file before you begin and follow it. Do not guess at a guide you have not read.",
  mcp_servers: "Servers that bring tools of their own, with what they say about their use.",
  subagents: "Kinds of subagents the user defined, besides the built-in ones.",
  permissions: "What the user and their administrator say about running things.",
  hook_context: "Added by hooks that the user configured.",
  custom_instructions:
    "Given by whoever set up this agent. They go before the general advice above and before the rules.",
} as const;

/** A section that tells what the client configured. */
export type ConfiguredName = keyof typeof sectionIntroductions;

/** A configured section with its introduction; null without content. */
export function configuredSection(name: ConfiguredName, content: string): Section | null {
  if (content === "") return null;
  return { name, text: block(name, {}, paragraphs(sectionIntroductions[name], content)) };
}
