import type { RunInput } from "../run/inputs.js";

/**
 * Joins neighbouring deltas of one channel and pass: the many small pieces of a tick become one record and one
 * frame (DESIGN.md). Letters somebody waits for are left alone.
 */
export function coalesce<T extends { readonly input: RunInput; readonly settle?: unknown }>(
  letters: readonly T[],
): readonly T[] {
  const joined: T[] = [];
  let pieces: string[] = [];
  const flush = () => {
    const last = joined.at(-1);
    if (last && pieces.length > 1) joined[joined.length - 1] = withText(last, pieces.join(""));
    pieces = [];
  };
  for (const letter of letters) {
    const text = deltaText(letter);
    const last = joined.at(-1);
    if (text !== undefined && pieces.length > 0 && last && sameBlock(last.input, letter.input)) {
      pieces.push(text);
      continue;
    }
    flush();
    joined.push(letter);
    if (text !== undefined) pieces = [text];
  }
  flush();
  return joined;
}

function deltaText(letter: { readonly input: RunInput; readonly settle?: unknown }): string | undefined {
  const { input } = letter;
  if (letter.settle || input.kind !== "pass" || input.event.kind !== "delta") return undefined;
  return input.event.text;
}

function sameBlock(a: RunInput, b: RunInput): boolean {
  if (a.kind !== "pass" || b.kind !== "pass" || a.pass !== b.pass) return false;
  return a.event.kind === "delta" && b.event.kind === "delta" && a.event.channel === b.event.channel;
}

function withText<T extends { readonly input: RunInput }>(letter: T, text: string): T {
  const { input } = letter;
  if (input.kind !== "pass" || input.event.kind !== "delta") return letter;
  return { ...letter, input: { ...input, event: { ...input.event, text } } };
}
