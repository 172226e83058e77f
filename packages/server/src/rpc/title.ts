const maxLength = 60;

/** A title made of a user message: its first line with words in it, cut after a whole word. Empty for an empty message. */
export function titleOf(userMessage: string): string {
  const lines = userMessage.split(/\r?\n/).map((line) => line.replace(/^[\s#>*-]+/, "").trim());
  const line = (lines.find((text) => /\p{L}|\p{N}/u.test(text)) ?? "").replace(/\s+/g, " ");
  const characters = Array.from(line);
  if (characters.length <= maxLength) return line;
  const cut = characters.slice(0, maxLength).join("");
  const lastSpace = cut.lastIndexOf(" ");
  return `${(lastSpace > maxLength / 2 ? cut.slice(0, lastSpace) : cut).trimEnd()}…`;
}
