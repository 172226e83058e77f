import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { limits } from "./limits.js";

/** What stands at the head of a terminal's file. */
export interface TerminalHead {
  readonly pid: number;
  readonly cwd: string;
  readonly command: string;
  readonly startedAt: number;
}

const runningWidth = 12;

/**
 * The file in which a background shell's output can be followed: a YAML head, then the output, input marked `[stdin]`, at
 * last how it ended. Written at once, so that a reader sees what there is. A full disk ends the recording only.
 */
export class TerminalFile {
  readonly path: string;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #runningAt: number;
  #descriptor: number | null;
  #length = 0;
  #isCut = false;
  #lastUpdate = 0;

  constructor(folder: string, shellId: number, head: TerminalHead, now: () => number) {
    this.path = join(folder, `${shellId}.txt`);
    this.#now = now;
    this.#startedAt = head.startedAt;
    mkdirSync(folder, { recursive: true });
    this.#descriptor = openSync(this.path, "wx", 0o600);
    const before = [
      "---",
      `pid: ${head.pid}`,
      `cwd: ${JSON.stringify(head.cwd)}`,
      `command: ${JSON.stringify(head.command)}`,
      `started_at: ${new Date(head.startedAt).toISOString()}`,
      "running_for_ms: ",
    ].join("\n");
    this.#runningAt = Buffer.byteLength(before);
    this.#write(`${before}${this.#running()}\n---\n`);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  append(text: string): void {
    if (this.#isCut) return;
    this.#write(text);
    if (this.#length > limits.outputFileBytes) {
      this.#isCut = true;
      this.#write("\n[output beyond this point is not recorded]\n");
    }
    if (this.#now() - this.#lastUpdate >= 1000) this.#update();
  }

  /** Writes how it ended and closes the file. */
  end(how: string): void {
    if (this.#descriptor === null) return;
    this.#update();
    this.#write(`\n---\n${how}\nended_at: ${new Date(this.#now()).toISOString()}\n---\n`);
    closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #running(): string {
    return String(Math.max(0, this.#now() - this.#startedAt)).padEnd(runningWidth);
  }

  #update(): void {
    this.#lastUpdate = this.#now();
    this.#writeAt(Buffer.from(this.#running()), this.#runningAt);
  }

  #write(text: string): void {
    const bytes = Buffer.from(text, "utf8");
    this.#length += this.#writeAt(bytes, this.#length);
  }

  #writeAt(bytes: Buffer, position: number): number {
    if (this.#descriptor === null) return 0;
    try {
      return writeSync(this.#descriptor, bytes, 0, bytes.length, position);
    } catch {
      return 0;
    }
  }
}
