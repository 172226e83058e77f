import type {
  ExtraContextEntry,
  InvocationContext,
  InvocationContext_IdeState,
  InvocationContext_IdeState_File,
  RecentAgentsContext,
  SelectedBrowser,
  SelectedConsoleLog,
  SelectedExternalLink,
  SelectedPastChat,
  SelectedUIElement,
} from "@keyturn/protocol/agent";
import { labelled, lines, paragraphs } from "./markup.js";
import { blobNote } from "./selected-blob.js";
import type { SelectedEntry } from "./selected-facts.js";

/** Where the message was written: an editor with open files, a thread, a pull request. */
export function invocationEntries({ data }: InvocationContext): SelectedEntry[] {
  switch (data.case) {
    case "ideState":
      return [{ kind: "editor", label: "", text: editorText(data.value) }];
    case "slackThread": {
      const { thread, channelName = "", channelTopic = "", channelPurpose = "", senderName = "" } = data.value;
      const about = lines(
        labelled("Topic", channelTopic),
        labelled("Purpose", channelPurpose),
        labelled("Written by", senderName),
      );
      return [{ kind: "thread", label: channelName, text: paragraphs(about, thread) }];
    }
    case "microsoftTeamsThread": {
      const { thread, channelName = "", teamName = "", channelDescription = "", teamDescription = "" } = data.value;
      const about = lines(labelled("Channel", channelDescription), labelled("Team", teamDescription));
      const label = [teamName, channelName].filter((name) => name !== "").join(" / ");
      return [{ kind: "thread", label, text: paragraphs(about, thread) }];
    }
    case "githubPr": {
      const { title, description, comments, ciFailures = "" } = data.value;
      const text = paragraphs(
        description,
        comments === "" ? "" : `Comments:\n${comments}`,
        ciFailures === "" ? "" : `Failed checks:\n${ciFailures}`,
      );
      return [{ kind: "pull-request", label: title, text }];
    }
    case "blobId":
      return [{ kind: "surroundings", label: "", text: blobNote(data.value) }];
    case undefined:
      return [];
  }
}

/** A page the user linked to. */
export function linkEntry(link: SelectedExternalLink): SelectedEntry {
  return { kind: "link", label: link.url || (link.filename ?? ""), text: link.pdfContent || blobNote(link.blobId) };
}

/** An earlier conversation, by name. */
export function pastChatEntry(chat: SelectedPastChat): SelectedEntry {
  return { kind: "past-chat", label: chat.name, text: labelled("Conversation id", chat.agentId) };
}

/** An element of a page. */
export function elementEntry(element: SelectedUIElement): SelectedEntry {
  const text = lines(
    labelled("Component", element.component ?? ""),
    labelled("Properties", element.componentPropsJson ?? ""),
    labelled("Text", element.textContent),
    element.element,
    element.extra,
  );
  return { kind: "page-element", label: element.xpath, text };
}

/** A line of a browser's console. */
export function consoleEntry(log: SelectedConsoleLog): SelectedEntry {
  const frames = log.stackTrace?.callFrames.map(
    (frame) =>
      `  at ${frame.functionName ?? ""} (${frame.url ?? ""}:${frame.lineNumber ?? 0}:${frame.columnNumber ?? 0})`,
  );
  const stack = log.stackTrace?.rawStackTrace || frames?.join("\n") || "";
  const label = [log.level, log.clientName].filter((part) => part !== "").join(" ");
  return { kind: "console", label, text: lines(log.message, log.objectDataJson ?? "", stack) };
}

/** A browser tab. */
export function browserEntry(browser: SelectedBrowser): SelectedEntry {
  return {
    kind: "browser",
    label: browser.url,
    text: lines(labelled("Title", browser.pageTitle ?? ""), labelled("Browser id", browser.browserId)),
  };
}

/** A text the client adds of its own accord. */
export function extraEntry({ dataOrBlobId: { case: kind, value } }: ExtraContextEntry): SelectedEntry {
  return { kind: "extra", label: "", text: kind === "data" ? value : blobNote(kind === "blobId" ? value : undefined) };
}

/** Agents that worked here lately. */
export function recentAgentEntries(context: RecentAgentsContext): SelectedEntry[] {
  return context.recentAgents.map((agent) => ({
    kind: "recent-agent",
    label: agent.name,
    text: lines(labelled("Path", agent.path), agent.overview ?? ""),
  }));
}

function editorText(state: InvocationContext_IdeState): string {
  return paragraphs(
    fileList("Open files:", state.visibleFiles),
    fileList("Files looked at lately:", state.recentlyViewedFiles),
    state.currentlyViewedPrs.length === 0
      ? ""
      : lines(
          "Pull requests on screen:",
          ...state.currentlyViewedPrs.map((request) => `- #${request.number} ${request.url} ${request.title ?? ""}`),
        ),
  );
}

function fileList(title: string, files: readonly InvocationContext_IdeState_File[]): string {
  if (files.length === 0) return "";
  return lines(title, ...files.map((file) => `- ${file.path || (file.relativePath ?? "")}${fileNote(file)}`));
}

function fileNote(file: InvocationContext_IdeState_File): string {
  const notes = [
    file.cursorPosition ? `cursor in line ${file.cursorPosition.line}: ${file.cursorPosition.text.trim()}` : "",
    file.totalLines > 0 ? `${file.totalLines} lines` : "",
    file.activeCommand ? `running ${file.activeCommand}` : "",
  ].filter((note) => note !== "");
  return notes.length > 0 ? ` (${notes.join("; ")})` : "";
}
