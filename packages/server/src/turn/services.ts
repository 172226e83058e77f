import type { ModelGateway } from "../models/port.js";
import type { BlobStore } from "../store/port.js";

/** What a turn needs of the rest of the server. */
export interface TurnServices {
  readonly models: ModelGateway;
  readonly blobs: BlobStore;
}
