/** The lower-case hex name of a blob the client refers to. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Says that a text exists and where, when only its blob's name was sent; "" without a name. */
export function blobNote(blobId: Uint8Array | undefined): string {
  if (!blobId || blobId.length === 0) return "";
  return `[the client keeps this text as blob ${hexOf(blobId)}; it is not shown here]`;
}
