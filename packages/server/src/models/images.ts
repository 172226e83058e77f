/** What a provider takes as an image. */
export interface ImageLimits {
  readonly maxBytes: number;
}

/** An image that can be sent, or the words to send in its place (I-122). */
export type ProjectedImage = { readonly mediaType: string; readonly bytes: Uint8Array } | { readonly note: string };

/** Checks one image against what the model and its provider take; the type is read from the bytes themselves. */
export function projectImage(bytes: Uint8Array | undefined, vision: boolean, limits: ImageLimits): ProjectedImage {
  if (!vision) return { note: "[An image was here; this model cannot see images.]" };
  if (bytes === undefined) return { note: "[An image was here; it is no longer stored.]" };
  if (bytes.length === 0) return { note: "[An image was here; it is empty.]" };
  if (bytes.length > limits.maxBytes) return { note: "[An image was here; it is too large for this model.]" };
  const mediaType = imageType(bytes);
  return mediaType === undefined ? { note: "[An image was here; its format is not supported.]" } : { mediaType, bytes };
}

/** The media type by the first bytes; undefined for anything but PNG, JPEG, GIF and WebP. */
export function imageType(bytes: Uint8Array): string | undefined {
  const text = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString("latin1");
  if (text(0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (text(0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (text(0, 4) === "GIF8") return "image/gif";
  if (text(0, 4) === "RIFF" && text(8, 12) === "WEBP") return "image/webp";
  return undefined;
}
