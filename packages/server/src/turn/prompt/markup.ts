/*
 * How texts from elsewhere are set apart in a prompt: `<tag name="value">`, a line feed, the text, a line feed, `</tag>`.
 * Only the user's own words stand in `<user_message>`; no other block can end early, or pretend to be the user's words or
 * choice, because the marks for that are disarmed inside it (`&lt;`).
 */

/** A block round a text that is not the user's own words; "" for an empty text. */
export function block(tag: string, attributes: Readonly<Record<string, string>>, text: string): string {
  if (text === "") return "";
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => ` ${name}="${attributeValue(value)}"`);
  return `<${tag}${written.join("")}>\n${disarm(text, tag)}\n</${tag}>`;
}

/** The parts of a text that are there, one blank line apart. */
export function paragraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

/** The lines of a text that are there. */
export function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

/** `Label: value`, or nothing when there is no value. */
export function labelled(label: string, value: string): string {
  return value === "" ? "" : `${label}: ${value}`;
}

function disarm(text: string, tag: string): string {
  // As little as possible: what a model copies out of a file has to match the file when it edits it.
  return text.replace(new RegExp(`<(?=/${tag}\\b|/?(?:user_message|updated|selected)\\b)`, "g"), "&lt;");
}

function attributeValue(value: string): string {
  return value
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\r\n]+/g, " ");
}
