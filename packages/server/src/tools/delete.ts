import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { DeleteArgsSchema, type DeleteResult, DeleteResultSchema, DeleteToolCallSchema } from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { type Call, defineTool, fail, objectSchema, run, type Step, type ToolBody } from "./define-tool.js";
import { limits } from "./limits.js";
import { comparablePath } from "./paths.js";
import { utf8Length } from "./text.js";

interface Input {
  readonly path: string;
}

/** Deletes one file. */
export const deleteTool = defineTool<Input>({
  name: "Delete",
  describe: () => ({
    description: "Delete one file. Directories are refused.",
    parameters: objectSchema(
      { path: { type: "string", description: "Absolute path, or relative to the workspace." } },
      ["path"],
    ),
  }),
  decode: (reader, context) => ({
    path: reader.path(["path", "file_path", "filePath", "target_file", "targetFile"], context),
  }),
  arguments: (input, call) => body(input, call),
  failure: (input, call, message) =>
    body(input, call, { result: { case: "error", value: { ...input, error: message } } }),
  lock: (input) => (input.path === "" ? undefined : comparablePath(input.path)),
  begin: (input, call) =>
    run("delete", { case: "deleteArgs", value: create(DeleteArgsSchema, { ...input, toolCallId: call.callId }) }),
  proceed(input, call, [report]) {
    const answer = answerOf(report, "deleteResult");
    if (!answer.ok) return fail(`Deleting ${input.path} failed: ${answer.problem}.`);
    return settle(input, call, answer.value);
  },
});

function settle(input: Input, call: Call, answer: DeleteResult): Step {
  const { result } = answer;
  const refused = (text: string) => fail(text, body(input, call, answer));
  switch (result.case) {
    case "success": {
      const text = `Deleted ${result.value.path || input.path}.`;
      return { do: "finish", text, body: body(input, call, withoutLongContent(answer)) };
    }
    case "fileNotFound":
      return refused(`File not found: ${result.value.path || input.path}. Nothing was deleted.`);
    case "notFile":
      return refused(`${input.path} is not a file (${result.value.actualType || "unknown"}). Nothing was deleted.`);
    case "permissionDenied": {
      const why = result.value.clientVisibleError || (result.value.isReadonly ? "read-only" : "no reason given");
      return refused(`Permission denied: ${input.path} may not be deleted (${bounded(why)}).`);
    }
    case "fileBusy":
      return refused(`${input.path} is in use by another program and was not deleted.`);
    case "rejected":
      return refused(`Deleting ${input.path} was rejected: ${bounded(result.value.reason || "no reason given")}.`);
    case "error":
      return refused(`Could not delete ${input.path}: ${bounded(result.value.error || "no reason given")}.`);
    default:
      return fail(
        `Could not delete ${input.path}: the client gave an empty answer; check whether the file still exists.`,
      );
  }
}

function withoutLongContent(answer: DeleteResult): DeleteResult {
  if (answer.result.case !== "success") return answer;
  const { value } = answer.result;
  if (utf8Length(value.prevContent) <= limits.shownFileBytes) return answer;
  const { path, deletedFile, fileSize } = value;
  return create(DeleteResultSchema, { result: { case: "success", value: { path, deletedFile, fileSize } } });
}

function body(input: Input, call: Call, result?: MessageInitShape<typeof DeleteResultSchema>): ToolBody {
  const args = { ...input, toolCallId: call.callId };
  return { case: "deleteToolCall", value: create(DeleteToolCallSchema, { args, ...(result ? { result } : {}) }) };
}
