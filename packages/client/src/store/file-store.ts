import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { BlobFolder } from "./blob-folder.js";
import type { ClientStore, StoredConversation } from "./client-store.js";

/** A file with more than this is written anew with its last line. */
const compactBytes = 256 * 1024;

/**
 * A store in a folder: `blobs/`, and `conversations/ID.jsonl` with a line of JSON for each state. The last whole line counts:
 * one that a crash has cut is passed over. Several processes may use a folder, but one conversation only one of them.
 */
export class FileStore implements ClientStore {
  readonly #conversations: string;
  readonly #blobs: BlobFolder;
  readonly #writing = new Map<string, Promise<void>>();

  private constructor(folder: string) {
    this.#conversations = join(folder, "conversations");
    this.#blobs = new BlobFolder(join(folder, "blobs"));
  }

  /** Opens the store of a folder, which is made if needed. */
  static async open(folder: string): Promise<FileStore> {
    const store = new FileStore(folder);
    await mkdir(store.#conversations, { recursive: true, mode: 0o700 });
    return store;
  }

  blob(id: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#blobs.get(id);
  }

  putBlob(id: Uint8Array, bytes: Uint8Array): Promise<void> {
    return this.#blobs.put(id, bytes);
  }

  async conversation(id: string): Promise<StoredConversation | undefined> {
    if (!isUsableId(id)) return undefined;
    await this.#writing.get(id)?.catch(() => undefined);
    return newestLine(await textOf(this.#pathOf(id)), id);
  }

  saveConversation(conversation: StoredConversation): Promise<void> {
    const { id } = conversation;
    if (!isUsableId(id)) return Promise.reject(new Error(`the conversation id ${JSON.stringify(id)} is not usable`));
    const before = this.#writing.get(id) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(() => this.#append(this.#pathOf(id), conversation));
    this.#writing.set(id, turn);
    return turn;
  }

  async newestConversation(workspace: string): Promise<StoredConversation | undefined> {
    const names = (await readdir(this.#conversations)).filter((name) => name.endsWith(".jsonl"));
    const files = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.#conversations, name))).mtimeMs })),
    );
    for (const { name } of files.sort((left, right) => right.at - left.at)) {
      const found = await this.conversation(name.slice(0, -".jsonl".length).replaceAll("%3A", ":"));
      if (found && found.workspace === workspace && !found.subagentType) return found;
    }
    return undefined;
  }

  async #append(path: string, conversation: StoredConversation): Promise<void> {
    const line = `${JSON.stringify(conversation)}\n`;
    const file = await open(path, "a+", 0o600);
    try {
      const { size } = await file.stat();
      if (size > compactBytes) return await replace(path, line);
      await file.write((await endsWhole(file, size)) ? line : `\n${line}`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  #pathOf(id: string): string {
    // Of the characters an id may have, the colon is none for a file name everywhere.
    return join(this.#conversations, `${id.replaceAll(":", "%3A")}.jsonl`);
  }
}

/** What a crash left of a last line must not swallow the next one. */
async function endsWhole(file: Awaited<ReturnType<typeof open>>, size: number): Promise<boolean> {
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === 0x0a;
}

async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    const file = await open(temporary, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw cause;
  }
}

function newestLine(text: string, id: string): StoredConversation | undefined {
  for (const line of text.split("\n").reverse()) {
    try {
      const value = JSON.parse(line) as Partial<StoredConversation> | null;
      if (value?.id === id && typeof value.workspace === "string") return value as StoredConversation;
    } catch {
      // Cut, or empty: the one before counts.
    }
  }
  return undefined;
}

/** What a server takes as well: never a path. */
function isUsableId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$/.test(id);
}
