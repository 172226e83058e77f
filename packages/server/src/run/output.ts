/** Output of an execution, bounded while it streams: the start and the end are kept, the middle is counted (I-59). */
export interface CapturedOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly interleaved: string;
  /** Characters left out of `interleaved`. */
  readonly omitted: number;
}

interface Kept {
  readonly text: string;
  readonly omitted: number;
}

export const noOutput: CapturedOutput = { stdout: "", stderr: "", interleaved: "", omitted: 0 };

/** Characters kept of a channel; part of the fold, so it is no setting: an old log must fold to the same state. */
const keep = 32 * 1024;

/** Adds a chunk; each channel keeps at most about twice `keep` characters, cut in the middle and marked. */
export function addOutput(output: CapturedOutput, channel: "stdout" | "stderr", text: string): CapturedOutput {
  const interleaved = bounded({ text: output.interleaved, omitted: output.omitted }, text);
  return {
    stdout: channel === "stdout" ? bounded({ text: output.stdout, omitted: 0 }, text).text : output.stdout,
    stderr: channel === "stderr" ? bounded({ text: output.stderr, omitted: 0 }, text).text : output.stderr,
    interleaved: interleaved.text,
    omitted: interleaved.omitted,
  };
}

const cutMark = "\n[... output omitted ...]\n";

function bounded(kept: Kept, text: string): Kept {
  const all = kept.text + text;
  // Cutting only at twice the bound makes the copying linear in what streams by.
  if (all.length <= keep * 2) return { text: all, omitted: kept.omitted };
  // Cut before: the head stays as it is, and the mark behind it was never output.
  const marked = [keep / 2 - 1, keep / 2].find((at) => all.startsWith(cutMark, at));
  const head = marked === undefined ? wholeEnd(all.slice(0, keep / 2)) : all.slice(0, marked);
  const tail = wholeStart(all.slice(-(keep / 2)));
  const fed = marked === undefined ? all.length : all.length - cutMark.length;
  return { text: head + cutMark + tail, omitted: kept.omitted + fed - head.length - tail.length };
}

function wholeEnd(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

function wholeStart(text: string): string {
  const first = text.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? text.slice(1) : text;
}
