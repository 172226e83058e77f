/** What bytes turned out to be. */
export type FileKind =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly encoding: "UTF-8" | "UTF-16LE" | "UTF-16BE" | "windows-1252";
    }
  | { readonly kind: "image"; readonly mediaType: ImageType }
  | { readonly kind: "binary"; readonly name: string };

type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

const signatures: readonly (readonly [name: string, ...bytes: (number | null)[]])[] = [
  ["PDF document", 0x25, 0x50, 0x44, 0x46, 0x2d],
  ["ZIP archive", 0x50, 0x4b, 0x03, 0x04],
  ["gzip archive", 0x1f, 0x8b],
  ["ELF program", 0x7f, 0x45, 0x4c, 0x46],
  ["Windows program", 0x4d, 0x5a, 0x90],
  ["SQLite database", 0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66],
  ["WebAssembly module", 0x00, 0x61, 0x73, 0x6d],
  ["BMP image", 0x42, 0x4d, null, null, null, null, 0x00, 0x00],
  ["TIFF image", 0x49, 0x49, 0x2a, 0x00],
  ["TIFF image", 0x4d, 0x4d, 0x00, 0x2a],
];

/** The media type of an image that providers take, by its first bytes. */
export function imageType(bytes: Uint8Array): ImageType | null {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(bytes, [0x47, 0x49, 0x46, 0x38])) return "image/gif";
  const riff = startsWith(bytes, [0x52, 0x49, 0x46, 0x46]);
  return riff && startsWith(bytes.subarray(8), [0x57, 0x45, 0x42, 0x50]) ? "image/webp" : null;
}

/**
 * Tells text from binary (I-61). UTF-16 counts only with its byte order mark; bytes that are no UTF-8 but hold neither
 * NUL nor many control characters are shown as windows-1252, the usual 8-bit encoding.
 */
export function fileKind(bytes: Uint8Array): FileKind {
  const mediaType = imageType(bytes);
  if (mediaType) return { kind: "image", mediaType };
  if (startsWith(bytes, [0xff, 0xfe])) return { kind: "text", text: decode(bytes, "utf-16le"), encoding: "UTF-16LE" };
  if (startsWith(bytes, [0xfe, 0xff])) return { kind: "text", text: decode(bytes, "utf-16be"), encoding: "UTF-16BE" };
  const signature = signatures.find(([, ...magic]) => startsWith(bytes, magic));
  if (signature) return { kind: "binary", name: signature[0] };
  if (bytes.includes(0)) return { kind: "binary", name: "binary file" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return isGarbled(text) ? { kind: "binary", name: "binary file" } : { kind: "text", text, encoding: "UTF-8" };
  } catch {
    const text = decode(bytes, "windows-1252");
    return isGarbled(text) ? { kind: "binary", name: "binary file" } : { kind: "text", text, encoding: "windows-1252" };
  }
}

/** True for text that is bytes in disguise: it has a NUL, or many replacement or control characters. */
export function isGarbled(text: string): boolean {
  if (text.includes("\0")) return true;
  // oxlint-disable-next-line no-control-regex -- these characters are what is looked for
  const strange = text.match(/[\u0001-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0;
  return strange > 0 && strange * 10 > text.length;
}

function startsWith(bytes: Uint8Array, magic: readonly (number | null)[]): boolean {
  return bytes.length >= magic.length && magic.every((byte, index) => byte === null || bytes[index] === byte);
}

function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding).decode(bytes);
}
