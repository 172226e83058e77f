/** A piece of text sorted into thinking and answer. */
export interface ThinkPiece {
  readonly kind: "reasoning" | "text";
  readonly text: string;
}

const open = "<think>";
const close = "</think>";

/**
 * Splits a `<think>` block off the start of an answer (I-89). Only the first block counts and only at the very
 * start; tags split between deltas are held back until they are whole; later tags are the answer's own words.
 */
export class ThinkTags {
  #state: "start" | "thinking" | "after-close" | "answer" = "start";
  #held = "";
  readonly #implicitOpen: boolean;

  /** `implicitOpen`: the template has already opened the block, so only the closing tag arrives. */
  constructor(implicitOpen: boolean) {
    this.#implicitOpen = implicitOpen;
  }

  /** Takes the next delta and returns what is certain by now. */
  push(delta: string): ThinkPiece[] {
    const pieces: ThinkPiece[] = [];
    this.#held += delta;
    if (this.#state === "start") this.#readStart();
    if (this.#state === "thinking") this.#readThinking(pieces);
    if (this.#state === "after-close") this.#skipBlank();
    if (this.#state === "answer" && this.#held !== "") {
      pieces.push({ kind: "text", text: this.#held });
      this.#held = "";
    }
    return pieces;
  }

  /** Ends the answer: what was held back is what its place says. */
  end(): ThinkPiece[] {
    const text = this.#held;
    this.#held = "";
    if (text === "" || this.#state === "after-close") return [];
    return [{ kind: this.#state === "thinking" ? "reasoning" : "text", text }];
  }

  #readStart(): void {
    const begin = this.#held.trimStart();
    if (begin.startsWith(open)) {
      this.#held = begin.slice(open.length);
      this.#state = "thinking";
    } else if (begin !== "" && !open.startsWith(begin)) {
      this.#state = this.#implicitOpen ? "thinking" : "answer";
    }
  }

  #readThinking(pieces: ThinkPiece[]): void {
    const at = this.#held.indexOf(close);
    const end = at < 0 ? this.#held.length - partialTag(this.#held) : at;
    const thought = this.#held.slice(0, end);
    if (thought !== "") pieces.push({ kind: "reasoning", text: thought });
    this.#held = at < 0 ? this.#held.slice(end) : this.#held.slice(at + close.length);
    if (at >= 0) this.#state = "after-close";
  }

  // Templates put blank lines between the block and the answer.
  #skipBlank(): void {
    this.#held = this.#held.replace(/^\s+/, "");
    if (this.#held !== "") this.#state = "answer";
  }
}

/** How many characters at the end may be the beginning of a closing tag. */
function partialTag(text: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--) {
    if (close.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
