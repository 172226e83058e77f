import type { ContextFacts, GitFacts } from "./context-facts.js";
import { leftOutNotice } from "./cut-text.js";
import { block, labelled, lines, paragraphs } from "./markup.js";

/**
 * What is true now and may not be in the next turn, so that it stands beside the user's message and never before it in
 * the prefix (I-123). Folder trees and notes are told on the first message only.
 */
export function contextBlock(context: ContextFacts | null, date: string, first: boolean): string {
  const parts = [labelled("Date", date)];
  if (context) {
    parts.push(...context.gitRepos.map(gitText), leftOutNotice(context.gitReposLeftOut, "repositories"));
    if (first) parts.push(...layoutParts(context), ...noteParts(context));
    parts.push(...changeParts(context), ...fileParts(context));
  }
  return block("context", {}, paragraphs(...parts));
}

function gitText(repo: GitFacts): string {
  return lines(
    `Git repository ${repo.path}`,
    labelled("Branch", repo.branch),
    labelled("Remote", repo.remote),
    repo.text === "" ? "" : `Status:\n${repo.text}`,
  );
}

function layoutParts({ layouts, layoutsLeftOut }: ContextFacts): string[] {
  return [
    ...layouts.map(({ path, text }) => block("layout", { path }, text)),
    leftOutNotice(layoutsLeftOut, "folder trees"),
  ];
}

function noteParts({ notes, plugins }: ContextFacts): string[] {
  return [
    notes.conversation === "" ? "" : `Notes of this conversation:\n${notes.conversation}`,
    notes.shared === "" ? "" : `Notes shared between conversations:\n${notes.shared}`,
    ...plugins.map((plugin) => `Plugin ${plugin.name} (${plugin.why}): ${plugin.text}`),
  ];
}

function changeParts({ userChanges, intentSummary }: ContextFacts): string[] {
  return [
    userChanges.length === 0
      ? ""
      : lines("Files the user changed, to be read again before editing:", ...userChanges.map((path) => `- ${path}`)),
    intentSummary === "" ? "" : `What the user seems to be after, as their client sums it up: ${intentSummary}`,
  ];
}

function fileParts({ files, filesLeftOut }: ContextFacts): string[] {
  return [
    ...files.map(({ path, text }) => block("file", { path }, text)),
    leftOutNotice(filesLeftOut, "files, which can be read"),
  ];
}
