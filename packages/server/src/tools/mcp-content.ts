import { create } from "@bufbuild/protobuf";
import { type McpSuccess, McpSuccessSchema, type McpToolResultContentItem } from "@keyturn/protocol/agent";
import { imageType } from "./file-kind.js";
import { limits } from "./limits.js";
import { cutNotice, headOf, utf8Length } from "./text.js";
import type { ToolImage } from "./tool.js";

/** What an MCP tool returned, within bounds: for the model and for the ToolCall. */
export interface McpContent {
  readonly text: string;
  readonly images: readonly ToolImage[];
  readonly shown: McpSuccess;
}

/** Bounds the content of an MCP result (I-59): texts share one budget, images stay whole or become a description. */
export function mcpContent(success: McpSuccess): McpContent {
  let room: number = limits.mcpTextBytes;
  const texts: string[] = [];
  const images: ToolImage[] = [];
  const content: McpToolResultContentItem["content"][] = [];
  const addText = (text: string) => {
    const total = utf8Length(text);
    const kept = total <= room ? text : headOf(text, room);
    room -= utf8Length(kept);
    const bounded =
      kept.length === text.length ? text : `${kept}\n${cutNotice("MCP", limits.mcpTextBytes, utf8Length(kept), total)}`;
    texts.push(bounded);
    return bounded;
  };
  for (const { content: item } of success.content.slice(0, limits.mcpItems)) {
    if (item.case === "text") {
      const text = addText(item.value.text);
      const file = item.value.outputLocation;
      if (file?.filePath) texts.push(`[the whole text is in ${file.filePath} (${file.sizeBytes} bytes)]`);
      content.push({ case: "text", value: { ...item.value, text } });
    } else if (item.case === "image") {
      const { data, mimeType } = item.value;
      const mediaType = imageType(data);
      const usable = mediaType !== null && data.length <= limits.imageBytes;
      if (usable) images.push({ mediaType, bytes: data });
      const described = `[image: ${mediaType ?? (mimeType || "unknown type")}, ${data.length} bytes${usable ? "" : ", not shown"}]`;
      texts.push(described);
      if (usable) content.push(item);
      else content.push(textItem(described));
    }
  }
  const left = success.content.length - limits.mcpItems;
  if (left > 0) {
    const notice = `[truncated: MCP result had ${success.content.length} items; showing ${limits.mcpItems}]`;
    texts.push(notice);
    content.push(textItem(notice));
  }
  const structured = success.structuredContent;
  const structuredText = structured === undefined ? "" : JSON.stringify(structured);
  // Clients repeat an object result as text; then the structure says nothing new.
  if (structuredText !== "" && !success.content.some(({ content: item }) => item.case === "text"))
    addText(structuredText);
  const shown = create(McpSuccessSchema, {
    isError: success.isError,
    content: content.map((item) => ({ content: item })),
    ...(structured !== undefined && utf8Length(structuredText) <= limits.mcpTextBytes
      ? { structuredContent: structured }
      : {}),
  });
  return { text: texts.join("\n"), images, shown };
}

function textItem(text: string): McpToolResultContentItem["content"] {
  const item = create(McpSuccessSchema, { content: [{ content: { case: "text", value: { text } } }] }).content[0];
  return item?.content ?? { case: undefined };
}
