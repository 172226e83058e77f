import type { SelectedDocument, SelectedImage, SelectedVideo } from "@keyturn/protocol/agent";
import { fileKind, imageType } from "../../tools/file-kind.js";
import { labelled, lines } from "./markup.js";
import { blobNote, hexOf } from "./selected-blob.js";
import type { SelectedEntry, SelectedImageSource } from "./selected-facts.js";

/**
 * Where to get an image; null for one that names no source at all. The bytes say what it is, before the client's word:
 * providers refuse an image whose type is wrong.
 */
export function imageSource(image: SelectedImage): SelectedImageSource | null {
  const { bytes, blobId } = sourceOf(image.dataOrBlobId);
  if (!bytes && !blobId && image.path === "") return null;
  return {
    mediaType: (bytes && imageType(bytes)) || image.mimeType || "image/png",
    ...(bytes ? { bytes } : {}),
    ...(blobId ? { blobId: hexOf(blobId) } : {}),
    ...(image.path === "" ? {} : { path: image.path }),
  };
}

/** An attached document: its text when its bytes are here and are text. */
export function documentEntry(document: SelectedDocument): SelectedEntry {
  const { bytes, blobId } = sourceOf(document.dataOrBlobId);
  const kind = bytes ? fileKind(bytes) : null;
  const about = lines(labelled("Type", document.mimeType), labelled("Path", document.path));
  const unread = bytes ? "[its content is not text and is not shown]" : blobNote(blobId) || "[only its name was sent]";
  return {
    kind: "document",
    label: document.filename || document.path,
    text: lines(about, kind?.kind === "text" ? kind.text : unread),
  };
}

/** An attached video, which no model here is shown. */
export function videoEntry(video: SelectedVideo): SelectedEntry {
  const about = lines(labelled("Type", video.mimeType), labelled("Path", video.path));
  return { kind: "video", label: video.filename || video.path, text: lines(about, "[videos are not shown]") };
}

function sourceOf(source: SelectedImage["dataOrBlobId"] | SelectedDocument["dataOrBlobId"]): {
  bytes?: Uint8Array;
  blobId?: Uint8Array;
} {
  const given = (bytes: Uint8Array): Uint8Array | undefined => (bytes.length > 0 ? bytes : undefined);
  switch (source.case) {
    case "data":
      return { bytes: given(source.value) };
    case "blobId":
      return { blobId: given(source.value) };
    case "blobIdWithData":
      return { bytes: given(source.value.data), blobId: given(source.value.blobId) };
    default:
      return {};
  }
}
