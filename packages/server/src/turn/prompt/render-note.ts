import type { Note } from "../../run/records.js";

const notes: Readonly<Record<Note, string>> = {
  interrupted:
    "Your last answer was cut off by a lost connection or a restart. What you had written by then has reached the user and stands above. Continue exactly where it stops, even in the middle of a word; do not repeat or sum up any of it. Tool results that stand above are final: do not call those tools again for the same.",
  empty:
    "Your last answer was empty: neither text nor a tool call. Answer now, with text for the user or with the next tool call.",
};

/** What the model is told when its last pass was cut short or said nothing; not the user's words, and marked so. */
export function renderNote(note: Note): string {
  return `<note>\n${notes[note]}\n</note>`;
}
