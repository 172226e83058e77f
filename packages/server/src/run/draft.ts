import type { ServerMessageInit } from "@keyturn/protocol/init";
import { evolve } from "./evolve.js";
import type { Blob, BlobId } from "./ids.js";
import type { Signs } from "./inputs.js";
import type { CoreLimits } from "./limits.js";
import type { RunLogic } from "./logic.js";
import type { RunRecord } from "./records.js";
import type { RunState } from "./state.js";

/** A frame to publish with a record: a literal the shell encodes once, or bytes encoded before. */
export type Frame = ServerMessageInit | { readonly encoded: Uint8Array };

/** A record that was decided and not yet stored. */
export interface RecordDraft {
  readonly record: RunRecord;
  readonly at: number;
  readonly frame?: Frame;
  /** Blobs that are stored in the same transaction. */
  readonly blobs?: readonly Blob[];
  /** The conversation's newest root, from this record on. */
  readonly newestRoot?: BlobId;
}

/** What deciding may look at beside the state. */
export interface World {
  readonly now: number;
  readonly signs: Signs;
  readonly logic: RunLogic;
  readonly limits: CoreLimits;
}

/** Collects records while deciding: each is folded in at once, so that what follows sees it. */
export class Draft {
  readonly records: RecordDraft[] = [];
  state: RunState;
  readonly world: World;

  constructor(state: RunState, world: World) {
    this.state = state;
    this.world = world;
  }

  add(record: RunRecord, more: Omit<RecordDraft, "record" | "at"> = {}): void {
    this.records.push({ record, at: this.world.now, ...more });
    this.state = evolve(this.state, record, this.world.now);
  }

  /** Publishes a frame that changes no state. */
  notice(frame: Frame): void {
    this.add({ kind: "notice" }, { frame });
  }
}
