import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { encodeHex } from "@keyturn/protocol/codec";

/** Ids that are none of a hash are kept as they come, up to this length. */
const longestId = 64;

/**
 * Blobs in files, each named after its id: `ab/abcd…`. A file is written beside its place and moved there whole, so that what
 * stands under a name is complete; a blob is never changed.
 */
export class BlobFolder {
  readonly #folder: string;
  /** On disk for sure. */
  readonly #known = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The bytes of a blob; undefined when there is none. A damaged one is removed. */
  async get(id: Uint8Array): Promise<Uint8Array | undefined> {
    const name = nameOf(id);
    const path = this.#pathOf(name);
    let bytes: Uint8Array;
    try {
      bytes = await readFile(path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw cause;
    }
    if (isWhole(id, bytes)) return bytes;
    this.#known.delete(name);
    await rm(path, { force: true });
    return undefined;
  }

  /** Stores a blob. Throws when a hash as its id is not the hash of the bytes. */
  async put(id: Uint8Array, bytes: Uint8Array): Promise<void> {
    const name = nameOf(id);
    if (!isWhole(id, bytes)) throw new Error(`the blob ${name} has another hash`);
    if (this.#known.has(name) || (await this.get(id)) !== undefined) {
      this.#known.add(name);
      return;
    }
    const path = this.#pathOf(name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      const file = await open(temporary, "wx", 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (cause) {
      await rm(temporary, { force: true });
      throw cause;
    }
    this.#known.add(name);
  }

  #pathOf(name: string): string {
    return join(this.#folder, name.slice(0, 2), name);
  }
}

function nameOf(id: Uint8Array): string {
  if (id.length === 0 || id.length > longestId) throw new Error(`a blob id has ${id.length} bytes`);
  return encodeHex(id);
}

function isWhole(id: Uint8Array, bytes: Uint8Array): boolean {
  return id.length !== 32 || createHash("sha256").update(bytes).digest().equals(id);
}
