import type { HistoryMessage } from "../../run/history.js";
import { contextBlock } from "./context-block.js";
import type { ContextFacts } from "./context-facts.js";
import { leftOutNotice } from "./cut-text.js";
import { block, paragraphs } from "./markup.js";
import { type Mode, modeText } from "./mode-text.js";
import type { Section } from "./section.js";
import type { SelectedFacts } from "./selected-facts.js";

/** What a user message is made from. */
export interface UserMessageInput {
  /** The user's own words. */
  readonly text: string;
  readonly selected: SelectedFacts;
  readonly mode: Mode;
  /** The mode of the turn before; absent when there was none. */
  readonly previousMode?: Mode;
  readonly context: ContextFacts | null;
  /** The messages before, in which what has not changed since was told already. */
  readonly history: readonly HistoryMessage[];
  readonly first: boolean;
  readonly changedSections: readonly Section[];
  /** Like `2026-12-01`. */
  readonly date: string;
  /** What to say about images, such as one that could not be loaded (I-52). */
  readonly imageNotes: readonly string[];
}

/**
 * The text parts of a user message, each one block: `<context>`, `<updated name="...">`, `<mode>`, `<selected>`,
 * `<images>`, and last `<user_message>`, a line feed, the user's text byte for byte, a line feed, `</user_message>`.
 * No other part can hold a `<user_message>` mark, and whatever the user wrote stands in the last part alone: taking off
 * the first and the last line of it gives the text back. Blocks without content are absent; the last is always there,
 * so that no message is empty (I-121).
 */
export function renderUserMessage(input: UserMessageInput): string[] {
  const { entries, leftOut } = input.selected;
  const parts = [
    freshContext(input),
    ...input.changedSections.map((section) => block("updated", { name: section.name }, section.text)),
    modeText(input.mode, input.previousMode, input.context),
    ...entries.map(({ kind, label, text }) => block("selected", { kind, label }, text || "(no text)")),
    block("selected", { kind: "notice" }, leftOutNotice(leftOut, "attachments")),
    block("images", {}, paragraphs(...input.imageNotes)),
  ];
  return [...parts.filter((part) => part !== ""), `<user_message>\n${input.text}\n</user_message>`];
}

/** The context block, unless the last one in the history told all of it. */
function freshContext({ context, date, first, history }: UserMessageInput): string {
  const now = contextBlock(context, date, first);
  const texts = history.flatMap((message) => (message.role === "user" ? message.content : []));
  const last = texts.findLast((part) => part.type === "text" && part.text.startsWith("<context>"));
  if (last?.type !== "text") return now;
  const isTold = now.split("\n").every((line) => last.text.includes(line));
  return isTold ? "" : now;
}
