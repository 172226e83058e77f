import { configuredSections } from "./configured-sections.js";
import type { ContextFacts } from "./context-facts.js";
import { cutText } from "./cut-text.js";
import { instructions } from "./instructions.js";
import { block, paragraphs } from "./markup.js";
import { promptLimits } from "./prompt-limits.js";
import type { Section } from "./section.js";

/** What the system message is made from. */
export interface SystemInput {
  readonly context: ContextFacts | null;
  readonly customSystemPrompt?: string;
  /** Names of the tools offered, in any order. */
  readonly toolNames: readonly string[];
  /** The type of a child run. */
  readonly subagentType?: string;
  readonly subagentPrompt?: string;
  /**
   * Deliberately not written anywhere: the system message stays when the user takes another model, and would then name
   * the wrong one.
   */
  readonly modelName: string;
}

/**
 * The system message in parts: general instructions first, because most conversations share them, then what the client
 * configured. Nothing in it changes from turn to turn by itself: no date, no git status, no ids (I-123).
 */
export function systemSections(input: SystemInput): Section[] {
  const custom = input.customSystemPrompt ?? "";
  const subagent = subagentText(input);
  return [
    { name: "instructions", text: instructions(input.toolNames) },
    ...(subagent === "" ? [] : [{ name: "subagent", text: subagent }]),
    ...configuredSections(input.context, custom.trim() === "" ? "" : cutText(custom, promptLimits.customSystemPrompt)),
  ];
}

/** The system message: the sections word for word, a blank line apart. */
export function renderSystem(sections: readonly Section[]): string {
  return sections.map((section) => section.text).join("\n\n");
}

function subagentText({ subagentType = "", subagentPrompt = "" }: SystemInput): string {
  if (subagentType === "" && subagentPrompt.trim() === "") return "";
  const kind = subagentType === "" ? "" : ` of the kind "${subagentType}"`;
  return block(
    "subagent",
    {},
    paragraphs(
      `You are a subagent${kind}: another agent started you for one task, and its words stand where the user's would. Nobody answers questions while you work. Your last text is all that agent gets: put everything it needs into it, with exact paths.`,
      cutText(subagentPrompt, promptLimits.subagentPrompt),
    ),
  );
}
