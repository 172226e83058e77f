import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ReadArgsSchema,
  type ReadResult,
  type ReadSuccess,
  ReadToolCallSchema,
  type ReadToolResultSchema,
} from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { type Call, defineTool, fail, objectSchema, run, type Step, type ToolBody } from "./define-tool.js";
import { fileKind, isGarbled } from "./file-kind.js";
import { limits } from "./limits.js";
import { type Excerpt, excerpt } from "./read-range.js";
import { cutNotice, fitLines, utf8Length, withLineFeeds } from "./text.js";

interface Input {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}

type ResultInit = MessageInitShape<typeof ReadToolResultSchema>["result"];

/** Reads one file: text (whole or a range of lines), images as images, other binary files as a description. */
export const readTool = defineTool<Input>({
  name: "Read",
  describe: () => ({
    description:
      "Read a file. Text comes back as it is, with line feeds as line ends; long files are cut and the answer says at which line to go on. PNG, JPEG, GIF and WebP files are shown as images. Use offset and limit for a part of a long file.",
    parameters: objectSchema(
      {
        path: { type: "string", description: "Absolute path, or relative to the workspace." },
        offset: {
          type: "integer",
          description: "First line to read, counted from 1. Negative numbers count from the end of the file.",
        },
        limit: { type: "integer", minimum: 1, description: "How many lines to read." },
      },
      ["path"],
    ),
  }),
  decode(reader, context) {
    const path = reader.path(["path", "file_path", "filePath", "target_file", "targetFile"], context);
    const offset = reader.integer(["offset", "start_line", "startLine"]);
    const limit = reader.integer(["limit", "max_lines", "maxLines"], 0);
    return { path, ...(offset ? { offset } : {}), ...(limit ? { limit } : {}) };
  },
  arguments: (input) => body(input),
  failure: (input, _call, message) => body(input, { case: "error", value: { errorMessage: message } }),
  begin: (input, call) =>
    run("read", { case: "readArgs", value: create(ReadArgsSchema, { ...input, toolCallId: call.callId }) }),
  proceed(input, call, [report]) {
    const answer = answerOf(report, "readResult");
    return answer.ok ? settle(input, call, answer.value) : fail(`Could not read ${input.path}: ${answer.problem}.`);
  },
});

/** Why a read gave no content, in words for the model. Shared with the tools that read before they write. */
export function readRefusal(result: Exclude<ReadResult["result"], { case: "success" }>, path: string): string {
  switch (result.case) {
    case "fileNotFound":
      return `File not found: ${result.value.path || path}. Check the path with Glob or Ls.`;
    case "permissionDenied":
      return `Permission denied: ${result.value.path || path} may not be read.`;
    case "invalidFile":
      return `${path} is not a readable file: ${bounded(result.value.reason || "no reason given")}.`;
    case "rejected":
      return `Reading ${path} was rejected: ${bounded(result.value.reason || "no reason given")}.`;
    case "error":
      return `Could not read ${path}: ${bounded(result.value.error || "no reason given")}.`;
    default:
      return `Could not read ${path}: the client gave an empty answer.`;
  }
}

function settle(input: Input, call: Call, { result }: ReadResult): Step {
  if (result.case !== "success") return fail(readRefusal(result, input.path));
  const { output } = result.value;
  if (output.case === "data") return settleData(input, call, result.value, output.value);
  if (output.case === undefined && result.value.outputBlobId?.length) {
    return fail(`Could not read ${input.path}: the client kept the content to itself (${size(result.value)} bytes).`);
  }
  const content = output.value ?? "";
  if (isGarbled(content)) return binary(input, result.value, "binary file", size(result.value));
  return settleText(input, result.value, content);
}

function settleData(input: Input, _call: Call, success: ReadSuccess, bytes: Uint8Array): Step {
  const kind = fileKind(bytes);
  if (kind.kind === "binary") return binary(input, success, kind.name, bytes.length);
  if (kind.kind === "text") {
    const note = kind.encoding === "UTF-8" ? "" : `[decoded from ${kind.encoding}]\n`;
    return settleText(input, success, kind.text, note);
  }
  const what = `${input.path} is an image (${kind.mediaType}, ${bytes.length} bytes)`;
  if (bytes.length > limits.imageBytes) return described(input, success, `${what}; it is too large to be shown.`);
  const shown = bytes.length <= limits.shownDataBytes;
  return {
    do: "finish",
    text: `${what}.`,
    images: [{ mediaType: kind.mediaType, bytes }],
    body: body(input, {
      case: "success",
      value: {
        ...facts(input, success),
        output: shown ? { case: "data", value: bytes } : { case: "content", value: `[${what}]` },
      },
    }),
  };
}

function binary(input: Input, success: ReadSuccess, name: string, bytes: number): Step {
  return described(input, success, `${input.path} is not text: ${name}, ${bytes} bytes. Its content is not shown.`);
}

function described(input: Input, success: ReadSuccess, text: string): Step {
  const output = { case: "content", value: text } as const;
  return { do: "finish", text, body: body(input, { case: "success", value: { ...facts(input, success), output } }) };
}

function settleText(input: Input, success: ReadSuccess, content: string, note = ""): Step {
  const part = excerpt(withLineFeeds(content), success.totalLines, success.rangeApplied, input);
  const { text, cut } = present(input, part, success.truncated);
  const range = part.range;
  const known = range !== null && range.first !== null && range.last !== null;
  return {
    do: "finish",
    text: note + text,
    body: body(input, {
      case: "success",
      value: {
        ...facts(input, success),
        totalLines: part.totalLines,
        isEmpty: part.totalLines === 0 && content === "",
        exceededLimit: cut || success.truncated,
        output: { case: "content", value: cut ? text : part.text },
        ...(known ? { readRange: { startLine: range.first ?? 0, endLine: range.last ?? 0 } } : {}),
      },
    }),
  };
}

function present(input: Input, part: Excerpt, clientCut: boolean): { text: string; cut: boolean } {
  if (part.pastEnd) {
    return { text: `[offset ${input.offset} is behind the end: the file has ${part.totalLines} lines]`, cut: false };
  }
  if (part.text === "" && part.range === null) return { text: "[the file is empty]", cut: false };
  const first = part.range?.first ?? 1;
  const header = headerOf(part);
  const bytes = utf8Length(part.text);
  const lines = part.text.split("\n");
  if (bytes <= limits.readBytes && lines.length <= limits.readLines) {
    return {
      text: header + part.text + (clientCut ? "\n[the client returned only a part of the file]" : ""),
      cut: false,
    };
  }
  const kept = fitLines(lines.slice(0, limits.readLines), limits.readBytes);
  const text = kept.lines.join("\n");
  const wholeLines = kept.lines.length > 1 || lines[0] === kept.lines[0];
  const goOn = wholeLines
    ? `[go on with offset ${first + kept.lines.length}]`
    : "[the line is too long to be shown; search it with Grep or cut it with a command]";
  const notice =
    bytes > limits.readBytes
      ? cutNotice("Read", limits.readBytes, utf8Length(text), bytes)
      : `[truncated: Read result exceeded ${limits.readLines} lines; showing ${kept.lines.length} of ${lines.length} lines]`;
  return { text: `${header}${text}\n${notice}\n${part.range?.first === null ? "" : goOn}`.trimEnd(), cut: true };
}

function headerOf(part: Excerpt): string {
  if (part.range === null) return "";
  if (part.range.first === null) return `[the last lines of a file of ${part.totalLines} lines]\n`;
  return `[lines ${part.range.first}-${part.range.last} of ${part.totalLines}]\n`;
}

function facts(input: Input, success: ReadSuccess) {
  return { path: success.path || input.path, fileSize: size(success), totalLines: Math.max(0, success.totalLines) };
}

function size(success: ReadSuccess): number {
  return Math.max(0, Math.min(Number(success.fileSize), 0xffff_ffff));
}

function body(input: Input, result?: ResultInit): ToolBody {
  return {
    case: "readToolCall",
    value: create(ReadToolCallSchema, { args: input, ...(result ? { result: { result } } : {}) }),
  };
}
