import type { PassEvent, Projection } from "../run/inputs.js";
import type { RunLogic } from "../run/logic.js";
import type { RunState } from "../run/state.js";
import type { ModelGateway } from "../models/port.js";
import type { BlobStore, ConversationStore } from "../store/port.js";

/** What a turn needs of the rest of the server. */
export interface TurnServices {
  readonly models: ModelGateway;
  readonly blobs: BlobStore;
  readonly conversations: ConversationStore;
}

/** The turn room as the engine takes it: pure answers for deciding, and effects for the world. */
export interface Turn {
  readonly logic: RunLogic;
  runPass(
    state: RunState,
    emit: (event: PassEvent) => Promise<void>,
    alive: () => void,
    signal: AbortSignal,
  ): Promise<void>;
  project(state: RunState, revision: number): Promise<Projection>;
}

/** Builds the turn room. */
export declare function createTurn(services: TurnServices): Turn;
