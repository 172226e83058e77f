import { type Base, decodeState, loadBase } from "../conversation/base.js";
import type { HistoryMessage } from "../run/history.js";
import type { BlobId } from "../run/ids.js";
import type { RunState } from "../run/state.js";
import type { BlobStore } from "../store/port.js";
import { turnFacts } from "./facts.js";

/** States kept loaded: every pass and every checkpoint of a turn starts from the same one. */
const keptStates = 64;

/** Loads the conversation a run starts from; a complete one is kept, since its blobs never change. */
export class HistoryLoader {
  readonly #kept = new Map<BlobId, Base>();
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  async load(state: RunState): Promise<Base> {
    const { base } = turnFacts(state);
    if (base === null) return { structure: decodeState(undefined), messages: [], missing: [] };
    const kept = this.#kept.get(base);
    if (kept) return kept;
    const bytes = (await this.#blobs.get([base])).get(base);
    const loaded = await loadBase(decodeState(bytes), (ids) => this.#blobs.get(ids));
    if (loaded.missing.length === 0) this.#keep(base, loaded);
    return loaded;
  }

  #keep(id: BlobId, base: Base): void {
    this.#kept.set(id, base);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > keptStates && !oldest.done) this.#kept.delete(oldest.value);
  }
}

/** Said once where messages of the history are gone for good (I-45). */
export function lostHistoryNote(count: number): HistoryMessage {
  const text = `[${count} earlier ${count === 1 ? "message" : "messages"} of this conversation could not be recovered. Ask the user if something is missing.]`;
  return { role: "user", content: [{ type: "text", text }] };
}
