import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { LsArgsSchema, type LsResult, type LsResultSchema, LsToolCallSchema } from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { type Call, defineTool, fail, objectSchema, run, type Step, type ToolBody } from "./define-tool.js";
import { leftOutFolders } from "./left-out-folders.js";
import { boundTree } from "./tree.js";

interface Input {
  readonly path: string;
  readonly ignore: string[];
}

/** Lists a directory as a tree. */
export const lsTool = defineTool<Input>({
  name: "Ls",
  describe: () => ({
    description:
      "List a directory as a tree. Large trees are cut from below; list a subdirectory to see more of it. .git and node_modules are left out unless the path names them.",
    parameters: objectSchema(
      {
        path: { type: "string", description: "Absolute path, or relative to the workspace." },
        ignore: { type: "array", items: { type: "string" }, description: 'Name patterns to leave out, e.g. "*.log".' },
      },
      ["path"],
    ),
  }),
  decode: (reader, context) => ({
    path: reader.path(["path", "target_directory", "targetDirectory"], context),
    ignore: reader.texts(["ignore", "ignore_globs", "ignoreGlobs"]),
  }),
  arguments: (input, call) => body(input, call),
  failure: (input, call, message) =>
    body(input, call, { result: { case: "error", value: { path: input.path, error: message } } }),
  begin: (input, call) =>
    run("ls", {
      case: "lsArgs",
      value: create(LsArgsSchema, {
        path: input.path,
        ignore: [...input.ignore, ...leftOutFolders(input.path)],
        toolCallId: call.callId,
      }),
    }),
  proceed(input, call, [report]) {
    const answer = answerOf(report, "lsResult");
    if (!answer.ok) return fail(`Could not list ${input.path}: ${answer.problem}.`);
    return settle(input, call, answer.value);
  },
});

function settle(input: Input, call: Call, answer: LsResult): Step {
  const { result } = answer;
  switch (result.case) {
    case "success": {
      if (!result.value.directoryTreeRoot)
        return fail(`Could not list ${input.path}: the client gave an empty answer.`);
      const tree = boundTree(result.value.directoryTreeRoot);
      const value = { directoryTreeRoot: tree.root };
      return { do: "finish", text: tree.text, body: body(input, call, { result: { case: "success", value } }) };
    }
    case "timeout": {
      const tree = result.value.directoryTreeRoot ? boundTree(result.value.directoryTreeRoot) : undefined;
      const text = `Listing ${input.path} took too long. ${tree ? `What was found until then:\n${tree.text}` : "List a subdirectory."}`;
      const value = tree ? { directoryTreeRoot: tree.root } : {};
      return fail(text, body(input, call, { result: { case: "timeout", value } }));
    }
    case "rejected":
      return fail(
        `Listing ${input.path} was rejected: ${bounded(result.value.reason || "no reason given")}.`,
        body(input, call, answer),
      );
    case "error":
      return fail(
        `Could not list ${input.path}: ${bounded(result.value.error || "no reason given")}.`,
        body(input, call, answer),
      );
    default:
      return fail(`Could not list ${input.path}: the client gave an empty answer.`);
  }
}

function body(input: Input, call: Call, result?: MessageInitShape<typeof LsResultSchema>): ToolBody {
  const args = { ...input, toolCallId: call.callId };
  return { case: "lsToolCall", value: create(LsToolCallSchema, { args, ...(result ? { result } : {}) }) };
}
