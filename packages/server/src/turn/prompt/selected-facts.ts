import type { LeftOut } from "./cut-text.js";

/** What the user attached to a message, as bounded texts. JSON. */
export type SelectedFacts = { readonly entries: readonly SelectedEntry[]; readonly leftOut: LeftOut };

/** One attachment: what it is, which one, and its text (empty when there is nothing but the name). */
export type SelectedEntry = { readonly kind: string; readonly label: string; readonly text: string };

/** Where an attached image is to be had: its bytes, the id of a blob, or only a path on the client's machine. */
export interface SelectedImageSource {
  readonly mediaType: string;
  readonly bytes?: Uint8Array;
  /** Lower-case hex. */
  readonly blobId?: string;
  readonly path?: string;
}

/** Nothing attached. */
export const nothingSelected: SelectedFacts = { entries: [], leftOut: { count: 0, names: [] } };
