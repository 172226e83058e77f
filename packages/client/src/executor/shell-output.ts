import { randomUUID } from "node:crypto";
import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { HeadTail } from "./head-tail.js";
import { limits } from "./limits.js";

/** Which stream a piece of output came from. */
export type OutputStream = "stdout" | "stderr";

/** A file that holds the whole output, as far as it fits. */
export interface OutputFile {
  readonly filePath: string;
  readonly sizeBytes: bigint;
  readonly lineCount: bigint;
}

/**
 * The output of one command: decoded without parting characters, handed on as it comes, kept at both ends, and written to
 * a file once it is longer than a threshold. A file that is slow to write slows the command down, not the memory up.
 */
export class ShellOutput {
  readonly stdout = new HeadTail(limits.collectedCharacters);
  readonly stderr = new HeadTail(limits.collectedCharacters);
  readonly interleaved = new HeadTail(limits.collectedCharacters);
  readonly #folder: string;
  readonly #threshold: number;
  #listener: ((stream: OutputStream, text: string) => void) | null;
  #pending: Buffer[] = [];
  #file: WriteStream | null = null;
  #fileFailed = false;
  #finished = false;
  #bytes = 0;
  #written = 0;
  #lines = 0;
  readonly #ends: (() => void)[] = [];

  /** An infinite threshold means no file. */
  constructor(folder: string, thresholdBytes: number, listener: (stream: OutputStream, text: string) => void) {
    this.#folder = folder;
    this.#threshold = thresholdBytes;
    this.#listener = listener;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True while the file cannot keep up. */
  get isBlocked(): boolean {
    return this.#file?.writableNeedDrain === true;
  }

  /** Hands further output to someone else, or to nobody. */
  redirect(listener: ((stream: OutputStream, text: string) => void) | null): void {
    this.#listener = listener;
  }

  /** Reads a stream of the process until its end. */
  attach(stream: OutputStream, source: Readable): void {
    const decoder = new StringDecoder("utf8");
    source.on("data", (chunk: Buffer) => {
      this.#take(stream, decoder.write(chunk), chunk);
      if (this.#file?.writableNeedDrain) {
        source.pause();
        this.#file.once("drain", () => source.resume());
      }
    });
    source.on("error", () => undefined);
    this.#ends.push(() => {
      const rest = decoder.end();
      if (rest !== "") this.#text(stream, rest);
    });
  }

  /** Closes the books: the last incomplete characters and the file. Returns the file, if there is one. */
  async finish(): Promise<OutputFile | null> {
    for (const end of this.#ends.splice(0)) end();
    this.#pending = [];
    this.#finished = true;
    const file = this.#file;
    if (!file || this.#fileFailed) return null;
    this.#file = null;
    await new Promise<void>((resolve) => {
      file.once("error", () => resolve());
      file.end(() => resolve());
    });
    return { filePath: String(file.path), sizeBytes: BigInt(this.#written), lineCount: BigInt(this.#lines) };
  }

  #take(stream: OutputStream, text: string, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#store(chunk);
    if (text !== "") this.#text(stream, text);
  }

  #text(stream: OutputStream, text: string): void {
    this[stream].add(text);
    this.interleaved.add(text);
    this.#listener?.(stream, text);
  }

  #store(chunk: Buffer): void {
    if (
      this.#threshold === Number.POSITIVE_INFINITY ||
      this.#finished ||
      this.#fileFailed ||
      this.#written >= limits.outputFileBytes
    )
      return;
    if (!this.#file && this.#bytes <= this.#threshold) {
      this.#pending.push(chunk);
      return;
    }
    const file = (this.#file ??= this.#open());
    for (const piece of [...this.#pending.splice(0), chunk]) {
      this.#written += piece.length;
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) this.#lines += 1;
      file.write(piece);
    }
  }

  #open(): WriteStream {
    mkdirSync(this.#folder, { recursive: true });
    const file = createWriteStream(join(this.#folder, `${randomUUID()}.txt`), { mode: 0o600 });
    // A full disk costs the file, not the command.
    file.on("error", () => {
      this.#fileFailed = true;
      file.emit("drain");
    });
    return file;
  }
}
