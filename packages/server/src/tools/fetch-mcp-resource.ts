import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ReadMcpResourceExecArgsSchema,
  type ReadMcpResourceExecResult,
  type ReadMcpResourceExecResultSchema,
  type ReadMcpResourceSuccess,
  ReadMcpResourceToolCallSchema,
} from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { type Call, defineTool, fail, objectSchema, run, type Step, type ToolBody } from "./define-tool.js";
import { fileKind } from "./file-kind.js";
import { limits } from "./limits.js";
import { mayWrite } from "./modes.js";
import { fitHead } from "./text.js";

interface Input {
  readonly server: string;
  readonly uri: string;
  readonly downloadPath?: string;
}

/** Reads one resource of an MCP server, or has the client save it to a file. */
export const fetchMcpResourceTool = defineTool<Input>({
  name: "FetchMcpResource",
  describe: ({ mode }) => ({
    description: "Read a resource of an MCP server by its URI.",
    parameters: objectSchema(
      {
        server: { type: "string", description: "The server that lists the resource." },
        uri: { type: "string", description: "The resource's URI." },
        ...(mayWrite(mode)
          ? {
              downloadPath: {
                type: "string",
                description: "Save the content to this path, relative to the workspace, instead of returning it.",
              },
            }
          : {}),
      },
      ["server", "uri"],
    ),
  }),
  decode(reader, context) {
    const server = reader.text(["server", "server_name", "serverName", "providerIdentifier"]);
    const uri = reader.text(["uri"]);
    const downloadPath = reader.optionalText(["downloadPath", "download_path"]);
    if (downloadPath && !mayWrite(context.mode)) {
      reader.problems.push(`"downloadPath" writes a file, which ${context.mode} mode does not allow`);
    }
    return { server, uri, ...(downloadPath ? { downloadPath } : {}) };
  },
  arguments: (input, call) => body(input, call),
  failure: (input, call, message) => body(input, call, { case: "error", value: { uri: input.uri, error: message } }),
  begin: (input, call) =>
    run("fetch", {
      case: "readMcpResourceExecArgs",
      value: create(ReadMcpResourceExecArgsSchema, { ...input, toolCallId: call.callId }),
    }),
  proceed(input, call, [report]) {
    const answer = answerOf(report, "readMcpResourceExecResult");
    return answer.ok ? settle(input, call, answer.value) : fail(`Could not read ${input.uri}: ${answer.problem}.`);
  },
});

function settle(input: Input, call: Call, { result }: ReadMcpResourceExecResult): Step {
  switch (result.case) {
    case "success":
      return settleContent(input, call, result.value);
    case "notFound":
      return fail(
        `${input.server} has no resource ${input.uri}. List what there is with ListMcpResources.`,
        body(input, call, { case: "notFound", value: { uri: result.value.uri || input.uri } }),
      );
    case "rejected": {
      const reason = bounded(result.value.reason || "no reason given");
      const value = { uri: input.uri, reason };
      return fail(`Reading ${input.uri} was rejected: ${reason}.`, body(input, call, { case: "rejected", value }));
    }
    case "error":
      return fail(`Could not read ${input.uri}: ${bounded(result.value.error || "no reason given")}.`);
    default:
      return fail(`Could not read ${input.uri}: the client gave an empty answer.`);
  }
}

function settleContent(input: Input, call: Call, success: ReadMcpResourceSuccess): Step {
  const { uri, name, description, mimeType, content, annotations, downloadPath, outputLocation } = success;
  const shownAs = (shown: ReadMcpResourceSuccess["content"]) =>
    body(input, call, {
      case: "success",
      value: { uri: uri || input.uri, name, description, mimeType, annotations, downloadPath, content: shown },
    });
  const saved = downloadPath ? `Saved ${input.uri} to ${downloadPath}.` : "";
  const kept = outputLocation?.filePath ? `\n[the whole content is in ${outputLocation.filePath}]` : "";
  const text = (of: string): Step => {
    const { text: fitted } = fitHead(of, limits.mcpTextBytes, "MCP resource");
    const whole = [saved, fitted === "" && saved === "" ? "[the resource is empty]" : fitted];
    return {
      do: "finish",
      text: whole.filter((each) => each !== "").join("\n") + kept,
      body: shownAs({ case: "text", value: fitted }),
    };
  };
  if (content.case !== "blob") return text(content.value ?? "");
  const kind = fileKind(content.value);
  if (kind.kind === "text") return text(kind.text);
  const size = `${content.value.length} bytes`;
  const visible = kind.kind === "image" && content.value.length <= limits.imageBytes;
  const what =
    kind.kind === "image"
      ? `${input.uri} is an image (${kind.mediaType}, ${size})`
      : `${input.uri} is not text: ${kind.name}, ${size}`;
  return {
    do: "finish",
    text: `${what}${visible ? "." : "; its content is not shown."}${saved === "" ? "" : ` ${saved}`}${kept}`,
    ...(visible ? { images: [{ mediaType: kind.mediaType, bytes: content.value }] } : {}),
    body: shownAs(content.value.length <= limits.shownDataBytes ? content : { case: "text", value: `[${what}]` }),
  };
}

function body(
  input: Input,
  call: Call,
  result?: MessageInitShape<typeof ReadMcpResourceExecResultSchema>["result"],
): ToolBody {
  const args = { ...input, toolCallId: call.callId };
  return {
    case: "readMcpResourceToolCall",
    value: create(ReadMcpResourceToolCallSchema, { args, ...(result ? { result: { result } } : {}) }),
  };
}
