import { type FileHandle, mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ExecClientMessage, ExecClientMessageSchema } from "@keyturn/protocol/agent";
import { codeOf } from "./errors.js";
import type { ExecutionJournal } from "./execution.js";
import { limits } from "./limits.js";

/** A line of the file. */
interface Line {
  readonly execId: string;
  readonly messages: readonly string[];
}

/**
 * A journal in one file, a line of JSON a record, on disk before `record` resolves. Of an execution the last record counts. A
 * line that was cut by a crash is passed over. When the file grows too large it is written anew with the newest executions.
 * One process at a time may hold it.
 */
export class FileJournal implements ExecutionJournal {
  readonly #path: string;
  readonly #entries = new Map<string, Line>();
  #file: FileHandle;
  #bytes: number;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(path: string, file: FileHandle, bytes: number) {
    this.#path = path;
    this.#file = file;
    this.#bytes = bytes;
  }

  /** Opens the journal `executions.jsonl` of a folder, which is made if needed. */
  static async open(folder: string): Promise<FileJournal> {
    const path = join(folder, "executions.jsonl");
    await mkdir(dirname(path), { recursive: true });
    const text = await readFile(path, "utf8").catch((cause: unknown) => {
      if (codeOf(cause) === "ENOENT") return "";
      throw cause;
    });
    const file = await open(path, "a", 0o600);
    // What a crash left of a last line must not swallow the next one.
    if (text !== "" && !text.endsWith("\n")) await file.write("\n");
    const journal = new FileJournal(path, file, Buffer.byteLength(text));
    for (const line of text.split("\n")) journal.#remember(lineOf(line));
    return journal;
  }

  find(execId: string): Promise<ExecClientMessage[] | undefined> {
    const messages = this.#entries.get(execId)?.messages;
    return Promise.resolve(messages?.map((each) => fromBinary(ExecClientMessageSchema, Buffer.from(each, "base64"))));
  }

  record(execId: string, messages: ExecClientMessage[]): Promise<void> {
    const encoded = messages.map((each) => Buffer.from(toBinary(ExecClientMessageSchema, each)).toString("base64"));
    const line: Line = { execId, messages: encoded };
    const turn = this.#writing.then(() => this.#write(line));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  /** Waits for what is being written and lets go of the file. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #write(line: Line): Promise<void> {
    const text = `${JSON.stringify(line)}\n`;
    await this.#file.write(text);
    await this.#file.sync();
    this.#bytes += Buffer.byteLength(text);
    this.#remember(line);
    if (this.#bytes > limits.journalBytes || this.#entries.size > 2 * limits.journalEntries) await this.#compact();
  }

  #remember(line: Line | null): void {
    if (line === null) return;
    // Set anew, the newest is last.
    this.#entries.delete(line.execId);
    this.#entries.set(line.execId, line);
  }

  async #compact(): Promise<void> {
    let room = limits.journalBytes / 2;
    const kept: string[] = [];
    for (const line of [...this.#entries.values()].reverse()) {
      const text = `${JSON.stringify(line)}\n`;
      room -= text.length;
      if (kept.length >= limits.journalEntries || (room < 0 && kept.length > 0)) this.#entries.delete(line.execId);
      else kept.unshift(text);
    }
    const temporary = `${this.#path}.tmp`;
    const file = await open(temporary, "w", 0o600);
    await file.write(kept.join(""));
    await file.sync();
    await rename(temporary, this.#path);
    await this.#file.close();
    this.#file = file;
    this.#bytes = Buffer.byteLength(kept.join(""));
  }
}

function lineOf(text: string): Line | null {
  try {
    const value = JSON.parse(text) as Partial<Line> | null;
    const isLine = typeof value?.execId === "string" && Array.isArray(value.messages);
    return isLine ? (value as Line) : null;
  } catch {
    return null;
  }
}
