import type { SelectedContext } from "@keyturn/protocol/agent";
import { fitTexts, oneLine } from "./cut-text.js";
import { promptLimits } from "./prompt-limits.js";
import * as changes from "./selected-changes.js";
import { nothingSelected, type SelectedEntry, type SelectedFacts, type SelectedImageSource } from "./selected-facts.js";
import * as media from "./selected-media.js";
import * as surroundings from "./selected-surroundings.js";
import * as workspace from "./selected-workspace.js";

type Field = Exclude<keyof SelectedContext, "$typeName" | "$unknown" | "selectedImages">;

/** One reader a field. The type demands all of them; their order is the claim on the room. */
const readers: { readonly [Name in Field]: (value: NonNullable<SelectedContext[Name]>) => readonly SelectedEntry[] } = {
  cursorCommands: (commands) => commands.map(workspace.commandEntry),
  selectedAgenticGitAction: (action) => [changes.gitActionEntry(action)],
  cursorRules: (rules) => rules.map(workspace.ruleEntry),
  selectedSkills: (skills) => skills.map(workspace.skillEntry),
  selectedSubagents: (subagents) => subagents.map(({ name }) => ({ kind: "subagent", label: name, text: "" })),
  codeSelections: (selections) => selections.map(workspace.codeEntry),
  files: (files) => files.map(workspace.fileEntry),
  folders: (folders) => folders.map(workspace.folderEntry),
  terminalSelections: (terminals) => terminals.map(workspace.terminalEntry),
  terminals: (terminals) => terminals.map(workspace.terminalEntry),
  selectedDocuments: (documents) => documents.map(media.documentEntry),
  externalLinks: (links) => links.map(surroundings.linkEntry),
  documentations: (documentations) => documentations.map(workspace.documentationEntry),
  gitDiff: (diff) => [changes.diffEntry("uncommitted changes", diff)],
  gitDiffFromBranchToMain: (diff) => [changes.diffEntry("changes of the branch against the main branch", diff)],
  gitCommits: (commits) => commits.map(changes.commitEntry),
  gitPrDiffSelections: (selections) => selections.map(changes.pullRequestDiffEntry),
  selectedPullRequests: (requests) => requests.map(changes.pullRequestEntry),
  uiElements: (elements) => elements.map(surroundings.elementEntry),
  consoleLogs: (logs) => logs.map(surroundings.consoleEntry),
  selectedBrowsers: (browsers) => browsers.map(surroundings.browserEntry),
  selectedVideos: (videos) => videos.map(media.videoEntry),
  pastChats: (chats) => chats.map(surroundings.pastChatEntry),
  extraContext: (texts) => texts.map((text) => ({ kind: "extra", label: "", text })),
  extraContextEntries: (entries) => entries.map(surroundings.extraEntry),
  invocationContext: (context) => surroundings.invocationEntries(context),
  recentAgentsContext: (context) => surroundings.recentAgentEntries(context),
};

const fields = Object.keys(readers) as Field[];

/**
 * What the user attached: texts, bounded one by one and together, and where to get the images. Attachments of a newer
 * protocol are named by their field number. Ids that only a user interface needs are not read.
 */
export function readSelected(context: SelectedContext | undefined): {
  readonly facts: SelectedFacts;
  readonly images: readonly SelectedImageSource[];
} {
  if (!context) return { facts: nothingSelected, images: [] };
  const entries = fields
    .flatMap((field) => entriesOf(context, field))
    .concat(unknownEntries(context))
    .map((entry) => ({ ...entry, label: oneLine(entry.label, promptLimits.label) }));
  const { kept, leftOut } = fitTexts(entries, promptLimits.selected, (entry) => `${entry.kind} ${entry.label}`.trim());
  const images = context.selectedImages.map(media.imageSource).filter((image) => image !== null);
  return { facts: { entries: kept, leftOut }, images };
}

function entriesOf<Name extends Field>(context: SelectedContext, field: Name): readonly SelectedEntry[] {
  const value = context[field];
  return value === undefined || value === null ? [] : readers[field](value);
}

function unknownEntries(context: SelectedContext): SelectedEntry[] {
  const numbers = new Set((context.$unknown ?? []).map((field) => field.no));
  return [...numbers].map((number) => ({
    kind: "unknown",
    label: `field ${number}`,
    text: "[the client attached something this server does not know]",
  }));
}
