/** `, did you mean "x"?` for the candidate that is nearest to the word, or nothing when none is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.ceil(word.length / 2)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(simplify(word), simplify(candidate));
    if (distance >= bestDistance) continue;
    bestDistance = distance;
    best = candidate;
  }
  return best === undefined ? "" : `, did you mean "${best}"?`;
}

/** `api_key` and `APIKey` are the same word as `apiKey`. */
function simplify(word: string): string {
  return word.slice(0, 100).toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** Levenshtein distance; a swap of neighbours counts as two. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (previous[column - 1] as number) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const moved = Math.min(previous[column] as number, current[column - 1] as number) + 1;
      current.push(Math.min(replaced, moved));
    }
    previous = current;
  }
  return previous[right.length] as number;
}
