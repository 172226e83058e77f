import { createHash } from "node:crypto";
import type { Blob, BlobId } from "../run/ids.js";

/** Names bytes by their SHA-256. */
export function blobOf(bytes: Uint8Array): Blob {
  return { id: createHash("sha256").update(bytes).digest("hex"), bytes };
}

/** True when the bytes are the blob they are said to be. */
export function isBlob(id: BlobId, bytes: Uint8Array): boolean {
  return blobOf(bytes).id === id;
}

/** The name as the wire carries it: the raw 32 bytes. */
export function rawId(id: BlobId): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(id, "hex"));
}

/** The name a wire field holds, or undefined when the bytes are no 32-byte hash but a body of their own (I-45). */
export function idOf(raw: Uint8Array): BlobId | undefined {
  return raw.byteLength === 32 ? Buffer.from(raw).toString("hex") : undefined;
}
