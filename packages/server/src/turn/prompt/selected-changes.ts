import type {
  SelectedAgenticGitAction,
  SelectedGitCommit,
  SelectedGitDiff,
  SelectedGitDiffFromBranchToMain,
  SelectedGitPRDiffSelection,
  SelectedPullRequest,
} from "@keyturn/protocol/agent";
import { labelled, lines, paragraphs } from "./markup.js";
import { blobNote } from "./selected-blob.js";
import type { SelectedEntry } from "./selected-facts.js";

/** Uncommitted changes, or those of a branch; the client may have shortened them already. */
export function diffEntry(label: string, diff: SelectedGitDiff | SelectedGitDiffFromBranchToMain): SelectedEntry {
  const whole = diff.fullContentLengthCharCount;
  const cut = whole > diff.content.length ? `[the client sent ${diff.content.length} of ${whole} characters]` : "";
  return { kind: "git-diff", label, text: lines(diff.content, cut) };
}

/** A commit with its changes. */
export function commitEntry(commit: SelectedGitCommit): SelectedEntry {
  const text = paragraphs(commit.message, commit.description ?? "", commit.diff);
  return { kind: "git-commit", label: commit.sha, text };
}

/** Some lines of a pull request's changes. */
export function pullRequestDiffEntry(selection: SelectedGitPRDiffSelection): SelectedEntry {
  const label = `${selection.prUrl} ${selection.filePath}:${selection.startLine}-${selection.endLine}`;
  return { kind: "pull-request-diff", label, text: selection.diffContent || blobNote(selection.blobId) };
}

/** A pull request by number, with what the client knows of it. */
export function pullRequestEntry(request: SelectedPullRequest): SelectedEntry {
  const text = paragraphs(
    lines(labelled("Title", request.title ?? ""), labelled("Folder", request.folderPath)),
    request.description ?? "",
    request.summaryJson ?? "",
    request.description || request.summaryJson ? "" : blobNote(request.blobId),
  );
  return { kind: "pull-request", label: `#${request.number} ${request.url}`.trim(), text };
}

/** A git action the user pressed a button for: the user's request, with its parameters. */
export function gitActionEntry(action: SelectedAgenticGitAction): SelectedEntry {
  const name = wordsOf(action.params.case ?? "").replace(/ params$/, "");
  const { branchContext, pathToTemplateFile = "", pathToTemplateDir = "" } = action;
  const text = lines(
    ...parameterLines(action.params.value),
    ...parameterLines(branchContext),
    labelled("path to template file", pathToTemplateFile),
    labelled("path to template folder", pathToTemplateDir),
  );
  return { kind: "git-action", label: name, text };
}

function parameterLines(message: object | undefined): string[] {
  return Object.entries(message ?? {})
    .filter(([name, value]) => !name.startsWith("$") && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => labelled(wordsOf(name), valueText(value)));
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (typeof value === "object" && value !== null) {
    const { path, status } = value as { readonly path?: unknown; readonly status?: unknown };
    return status ? `${valueText(path)} (${valueText(status)})` : valueText(path);
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? `${value}` : "";
}

/** `filesToCommit` is "files to commit". */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
