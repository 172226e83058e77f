/** What the first bytes say a file is: text in UTF-8 as far as seen, text in UTF-16, an image to be shown, or other. */
export type FileKind = "text" | "utf16" | "image" | "binary";

const images = [
  [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  [0xff, 0xd8, 0xff],
  [0x47, 0x49, 0x46, 0x38],
];

/** Tells a file's kind from its beginning (at least 16 bytes where there are as many). */
export function fileKindOf(head: Uint8Array): FileKind {
  const begins = (bytes: readonly number[], at = 0) => bytes.every((byte, index) => head[at + index] === byte);
  const isWebp = begins([0x52, 0x49, 0x46, 0x46]) && begins([0x57, 0x45, 0x42, 0x50], 8);
  if (isWebp || images.some((magic) => begins(magic))) return "image";
  if (begins([0xff, 0xfe]) || begins([0xfe, 0xff])) return "utf16";
  return head.includes(0) ? "binary" : "text";
}
