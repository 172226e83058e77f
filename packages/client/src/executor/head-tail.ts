/** Text of which only the beginning and the end are kept, in bounded memory. */
export class HeadTail {
  readonly #half: number;
  #head = "";
  #tail = "";
  #elided = 0;

  constructor(limitCharacters: number) {
    this.#half = Math.floor(limitCharacters / 2);
  }

  /** Characters left out in the middle. */
  get elided(): number {
    return this.#elided;
  }

  get head(): string {
    return this.#head;
  }

  get tail(): string {
    return this.#tail;
  }

  add(text: string): void {
    const room = Math.max(0, this.#half - this.#head.length);
    // Once something went to the tail, the head is closed even if it has room.
    const forHead = this.#tail === "" ? wholeCharacters(text, room) : "";
    this.#head += forHead;
    this.#tail += text.slice(forHead.length);
    if (this.#tail.length <= this.#half * 2) return;
    const cut = this.#tail.length - this.#half;
    const from = isLowSurrogate(this.#tail, cut) ? cut + 1 : cut;
    this.#elided += from;
    this.#tail = this.#tail.slice(from);
  }

  /** All that is kept, with a notice where something is missing. */
  text(): string {
    if (this.#elided === 0) return this.#head + this.#tail;
    return `${this.#head}\n[… ${this.#elided} characters left out …]\n${this.#tail}`;
  }
}

function wholeCharacters(text: string, length: number): string {
  return text.slice(0, isLowSurrogate(text, length) ? length - 1 : length);
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = at > 0 ? text.charCodeAt(at) : 0;
  return unit >= 0xdc00 && unit <= 0xdfff;
}
