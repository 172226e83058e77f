import type { ReadResult } from "@keyturn/protocol/agent";
import { answerOf } from "./answers.js";
import { type Call, defineTool, fail, objectSchema, type Step } from "./define-tool.js";
import { editBody, editError, readFirst, refusedRead, settleWrite, writeNext } from "./edit-steps.js";
import { isGarbled } from "./file-kind.js";
import { contentOf, openFile } from "./file-text.js";
import { comparablePath } from "./paths.js";
import { countLines, plural, utf8Length } from "./text.js";
import type { ExecReport } from "./tool.js";

interface Input {
  readonly path: string;
  readonly contents: string;
}

/** Creates or replaces a file with exactly the bytes given (W8); the hidden read before it is only for the diff. */
export const writeTool = defineTool<Input>({
  name: "Write",
  describe: () => ({
    description:
      "Create a file, or replace the whole content of one. The content is written exactly as given, final newline included; missing folders are created. To change a part of a file, use Edit.",
    parameters: objectSchema(
      {
        path: { type: "string", description: "Absolute path, or relative to the workspace." },
        contents: { type: "string", description: "The whole new content." },
      },
      ["path", "contents"],
    ),
  }),
  decode: (reader, context) => ({
    path: reader.path(["path", "file_path", "filePath", "target_file", "targetFile"], context),
    contents: reader.text(["contents", "content", "file_text", "fileText", "stream_content", "streamContent"], {
      empty: true,
      nul: true,
    }),
  }),
  arguments: (input) => editBody(input.path, input.contents),
  failure: (input, _call, message) => editError(input.path, message, input.contents),
  lock: (input) => (input.path === "" ? undefined : comparablePath(input.path)),
  begin: (input, call) => readFirst(input.path, call),
  proceed(input, call, [read, written, verified]) {
    const answer = answerOf(read, "readResult");
    if (!answer.ok) return fail(`${input.path} was not written: looking at it first failed: ${answer.problem}.`);
    const found = look(input, answer.value);
    return "do" in found ? found : write(input, call, found, written, verified);
  },
});

interface Found {
  /** Content before, empty when there was no file; null when it cannot be told. */
  readonly before: string | null;
  readonly exists: boolean;
  /** Something about the replaced file that the model could not see and should know. */
  readonly note: string;
}

function look(input: Input, { result }: ReadResult): Found | Step {
  if (result.case === "fileNotFound") return { before: "", exists: false, note: "" };
  if (result.case !== "success") return refusedRead(result, input.path, input.contents);
  const { output, truncated, rangeApplied, fileSize } = result.value;
  if (output.case === "data" || (output.case === "content" && isGarbled(output.value))) {
    return fail(`${input.path} was not written: it is a binary file. Delete it first if it really should be replaced.`);
  }
  if (truncated || rangeApplied || (output.case === undefined && fileSize > 0n)) {
    return { before: null, exists: true, note: "" };
  }
  const opened = openFile(output.value ?? "", Number(fileSize));
  if (opened.kind !== "open") return { before: output.value ?? "", exists: true, note: "" };
  const { ends, mark } = opened.file;
  const lost = [
    ends === "crlf" && !input.contents.includes("\r\n") && input.contents.includes("\n")
      ? "its lines ended with CRLF and now end with LF"
      : "",
    mark && !input.contents.startsWith("\uFEFF") ? "its byte order mark is gone" : "",
  ].filter((each) => each !== "");
  return {
    before: contentOf(opened.file),
    exists: true,
    note: lost.length > 0 ? ` Note: ${lost.join(", ")}.` : "",
  };
}

function write(
  input: Input,
  call: Call,
  found: Found,
  written: ExecReport | undefined,
  verified: ExecReport | undefined,
): Step {
  const plan = { path: input.path, before: found.before, content: input.contents, streamContent: input.contents };
  if (written === undefined) return writeNext(plan, call);
  const size = `${plural(countLines(input.contents), "line")}, ${utf8Length(input.contents)} bytes`;
  return settleWrite(plan, call, written, verified, (diff) => {
    if (!found.exists) return `Created ${input.path} (${size}).`;
    const change = found.before === null ? "" : ` +${diff.added} -${diff.removed} lines.`;
    return `Replaced the content of ${input.path} (${size}).${change}${found.note}`;
  });
}
