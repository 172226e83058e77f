import type {
  AgentSkill,
  Range,
  SelectedCodeSelection,
  SelectedCursorCommand,
  SelectedCursorRule,
  SelectedDocumentation,
  SelectedFile,
  SelectedFolder,
  SelectedTerminal,
  SelectedTerminalSelection,
} from "@keyturn/protocol/agent";
import { boundTree } from "../../tools/tree.js";
import type { SelectedEntry } from "./selected-facts.js";

/** A whole file. */
export function fileEntry(file: SelectedFile): SelectedEntry {
  return { kind: "file", label: file.path || (file.relativePath ?? ""), text: file.content };
}

/** Some lines of a file. */
export function codeEntry(selection: SelectedCodeSelection): SelectedEntry {
  const path = selection.path || (selection.relativePath ?? "");
  return { kind: "code", label: path + rangeText(selection.range), text: selection.content };
}

/** A folder with the tree below it. */
export function folderEntry(folder: SelectedFolder): SelectedEntry {
  const text = folder.directoryTree ? boundTree(folder.directoryTree).text : "";
  return { kind: "folder", label: folder.path || (folder.relativePath ?? ""), text };
}

/** A terminal, or some lines of one. */
export function terminalEntry(terminal: SelectedTerminal | SelectedTerminalSelection): SelectedEntry {
  const range = "range" in terminal ? rangeText(terminal.range) : "";
  return { kind: "terminal", label: (terminal.title || terminal.path || "") + range, text: terminal.content };
}

/** A rule the user attached by hand. */
export function ruleEntry(selected: SelectedCursorRule): SelectedEntry {
  return { kind: "rule", label: selected.rule?.fullPath ?? "", text: selected.rule?.content ?? "" };
}

/** A command: a prepared instruction the user chose, to be followed like their own words. */
export function commandEntry(command: SelectedCursorCommand): SelectedEntry {
  return { kind: "command", label: command.name || (command.displayName ?? ""), text: command.content };
}

/** A skill the user chose by name. */
export function skillEntry(skill: AgentSkill): SelectedEntry {
  return { kind: "skill", label: skill.fullPath, text: skill.content || skill.description };
}

/** Documentation known to the client by name only. */
export function documentationEntry(documentation: SelectedDocumentation): SelectedEntry {
  return { kind: "documentation", label: documentation.name || documentation.docId, text: "" };
}

function rangeText(range: Range | undefined): string {
  if (!range?.start) return "";
  const last = range.end?.line ?? range.start.line;
  return range.start.line === last ? `:${last}` : `:${range.start.line}-${last}`;
}
