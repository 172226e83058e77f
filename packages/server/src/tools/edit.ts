import { create } from "@bufbuild/protobuf";
import { GrepArgsSchema } from "@keyturn/protocol/agent";
import { answerOf } from "./answers.js";
import { type Call, defineTool, fail, objectSchema, run, type Step } from "./define-tool.js";
import { editBody, editError, readFirst, refusedRead, settleWrite, writeNext } from "./edit-steps.js";
import { isGarbled } from "./file-kind.js";
import { contentOf, type FileText, openFile } from "./file-text.js";
import { limits } from "./limits.js";
import type { LineDiff } from "./line-diff.js";
import { comparablePath } from "./paths.js";
import { replaceIn } from "./replace.js";
import { fitMiddle, plural } from "./text.js";
import type { ExecReport } from "./tool.js";

interface Input {
  readonly path: string;
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
}

/** Replaces exact text in a file: hidden read, write and check, with the file's line ends and byte order mark kept. */
export const editTool = defineTool<Input>({
  name: "Edit",
  describe: () => ({
    description:
      "Replace exact text in a file. old_string must occur exactly once, white space included (add lines around it to make it unique), or set replace_all. Line ends and encoding of the file are kept. Read the file first; use Write for a new file.",
    parameters: objectSchema(
      {
        path: { type: "string", description: "Absolute path, or relative to the workspace." },
        old_string: { type: "string", description: "The text to replace, exactly as it is in the file." },
        new_string: { type: "string", description: "The text to put in its place; may be empty." },
        replace_all: { type: "boolean", description: "Replace every occurrence. Default false." },
      },
      ["path", "old_string", "new_string"],
    ),
  }),
  decode(reader, context) {
    const input = {
      path: reader.path(["path", "file_path", "filePath", "target_file", "targetFile"], context),
      oldString: reader.text(["old_string", "oldString", "old_text"], { nul: true, empty: true }),
      newString: reader.text(["new_string", "newString", "new_text"], { nul: true, empty: true }),
      replaceAll: reader.flag(["replace_all", "replaceAll"]) ?? false,
    };
    if (reader.problems.length > 0) return input;
    if (input.oldString === "") {
      reader.problems.push('"old_string" must not be empty (to create a file or replace all of it, use Write)');
    } else if (input.oldString === input.newString) {
      reader.problems.push('"old_string" and "new_string" are identical, so there is nothing to change');
    }
    return input;
  },
  arguments: (input) => editBody(input.path),
  failure: (input, _call, message) => editError(input.path, message),
  lock: (input) => (input.path === "" ? undefined : comparablePath(input.path)),
  begin: (input, call) => readFirst(input.path, call),
  proceed(input, call, reports) {
    const opened = open(input, reports[0]);
    if ("do" in opened) return opened;
    if (opened.kind === "open") return edit(input, call, opened.file, reports.slice(1));
    if (reports.length === 1) return askLineEnds(input, call);
    const file = opened.resolve(crlfLines(reports[1]));
    if (file) return edit(input, call, file, reports.slice(2));
    return fail(
      `${input.path} was not edited: ${opened.missing} of its lines end with CRLF and the others with LF, and the client cannot tell which. Unify the line ends first (for example with a command), then edit again.`,
    );
  },
});

function open(input: Input, report: ExecReport | undefined) {
  const answer = answerOf(report, "readResult");
  if (!answer.ok) return fail(`${input.path} was not edited: reading it failed: ${answer.problem}.`);
  const { result } = answer.value;
  if (result.case !== "success") return refusedRead(result, input.path);
  const { output, truncated, rangeApplied, fileSize, outputBlobId } = result.value;
  if (output.case === "data") return fail(`${input.path} was not edited: it is not a text file.`);
  if (truncated || rangeApplied || (output.case === undefined && outputBlobId?.length)) {
    return fail(
      `${input.path} was not edited: the client did not return the whole file. Edit it with a command instead.`,
    );
  }
  const content = output.value ?? "";
  if (isGarbled(content)) return fail(`${input.path} was not edited: it is not a text file.`);
  const opened = openFile(content, Number(fileSize));
  return opened.kind === "refused" ? fail(`${input.path} was not edited: ${opened.reason}.`) : opened;
}

function edit(input: Input, call: Call, file: FileText, reports: readonly ExecReport[]): Step {
  const replaced = replaceIn(file, input.oldString, input.newString, input.replaceAll);
  if (replaced.kind === "not-found") {
    return fail(`old_string was not found in ${input.path}; nothing was changed. ${replaced.hint}`);
  }
  if (replaced.kind === "not-unique") {
    const more = replaced.count > replaced.lines.length ? ", …" : "";
    return fail(
      `old_string occurs ${replaced.count} times in ${input.path} (lines ${replaced.lines.join(", ")}${more}); nothing was changed. Add surrounding lines to make it unique, or set replace_all to change all of them.`,
    );
  }
  const plan = { path: input.path, before: contentOf(file), content: replaced.content };
  if (plan.before === plan.content)
    return fail(`${input.path} was not edited: old_string and new_string are the same text.`);
  if (reports.length === 0) return writeNext(plan, call);
  return settleWrite(plan, call, reports[0], reports[1], (diff) => success(input, replaced.count, diff));
}

function success(input: Input, count: number, diff: LineDiff): string {
  const head = `Edited ${input.path}: ${plural(count, "replacement")}, +${diff.added} -${diff.removed} lines.`;
  return `${head}\n${fitMiddle(diff.text, limits.editDiffBytes, "diff").text}`;
}

/** Which lines end with CRLF: the search sees the carriage returns that a read hides. */
function askLineEnds(input: Input, call: Call): Step {
  return run("line-ends", {
    case: "grepArgs",
    value: create(GrepArgsSchema, {
      pattern: "\\r$",
      path: input.path,
      outputMode: "content",
      toolCallId: call.callId,
    }),
  });
}

function crlfLines(report: ExecReport | undefined): number[] {
  const answer = answerOf(report, "grepResult");
  if (!answer.ok || answer.value.result.case !== "success") return [];
  return Object.values(answer.value.result.value.workspaceResults)
    .flatMap(({ result }) => (result.case === "content" ? result.value.matches : []))
    .flatMap(({ matches }) => matches.filter((match) => !match.isContextLine))
    .map(({ lineNumber }) => lineNumber - 1);
}
