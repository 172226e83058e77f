/** A JSON value: what records, facts and opaque provider data are made of. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Names one run: a request id and the generation that reuses of that id count up (A3). */
export interface RunKey {
  readonly requestId: string;
  /** 0 for the first use of the request id. */
  readonly generation: number;
}

/** Place of a record in its run's log; the first record has position 1. */
export type Position = number;

/** Lower-case hex SHA-256 of a blob's bytes: its name everywhere on our side. */
export type BlobId = string;

/** Bytes together with their content-addressed name. */
export interface Blob {
  readonly id: BlobId;
  readonly bytes: Uint8Array;
}

/** The text form of a run key, for maps and logs. */
export function runName(key: RunKey): string {
  return key.generation === 0 ? key.requestId : `${key.requestId}#${key.generation}`;
}
