import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { McpSuccessSchema } from "@keyturn/protocol/agent";
import type { CallToolResult } from "@modelcontextprotocol/client";

type Success = MessageInitShape<typeof McpSuccessSchema>;
type Item = NonNullable<Success["content"]>[number];

/** What a tool returned, as the wire has it: its error mark is kept, what has no place there is described in words. */
export function mcpSuccess(result: CallToolResult): Success {
  const structured = result.structuredContent;
  return {
    content: (result.content ?? []).map(itemOf),
    isError: result.isError === true,
    ...(structured === undefined ? {} : { structuredContent: JSON.parse(JSON.stringify(structured)) as JsonObject }),
  };
}

function itemOf(block: CallToolResult["content"][number]): Item {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return {
        content: { case: "image", value: { data: Buffer.from(block.data, "base64"), mimeType: block.mimeType } },
      };
    case "audio":
      return text(`[audio: ${block.mimeType}, not shown]`);
    case "resource_link":
      return text(`[resource ${block.name}: ${block.uri}]`);
    case "resource":
      return "text" in block.resource
        ? text(block.resource.text)
        : text(`[resource ${block.resource.uri}: ${block.resource.mimeType ?? "binary"}, not shown]`);
    default:
      return text("[content of an unknown kind]");
  }
}

function text(value: string): Item {
  return { content: { case: "text", value: { text: value } } };
}
