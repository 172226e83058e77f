import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  GlobToolCallSchema,
  type GlobToolResultSchema,
  GrepArgsSchema,
  type GrepResult,
  type GrepUnionResult,
} from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { defineTool, fail, objectSchema, run, type Step, type ToolBody } from "./define-tool.js";
import { leftOutFolders, withoutFolders } from "./left-out-folders.js";
import { limits } from "./limits.js";
import { isAbsolutePath, presentPath, resolvePath } from "./paths.js";
import { plural } from "./text.js";
import type { ToolContext } from "./tool.js";

interface Input {
  readonly globPattern: string;
  readonly targetDirectory?: string;
}

/** Finds files by name pattern: a search with an empty expression that lists file names. */
export const globTool = defineTool<Input>({
  name: "Glob",
  describe: () => ({
    description:
      'Find files by a name pattern such as "*.test.ts" or "src/**/*.css". Patterns match at any depth below the directory. .git and node_modules are left out unless the pattern or the directory names them.',
    parameters: objectSchema(
      {
        glob_pattern: { type: "string", description: "The pattern." },
        target_directory: { type: "string", description: "Directory to search. Default: the workspace." },
      },
      ["glob_pattern"],
    ),
  }),
  decode(reader, context) {
    const pattern = reader.text(["glob_pattern", "globPattern", "pattern"]);
    const directory = reader.optionalPath(["target_directory", "targetDirectory", "path"], context);
    return normalise(pattern, directory);
  },
  arguments: (input) => body(input),
  failure: (input, _call, message) => body(input, { case: "error", value: { error: message } }),
  begin: (input, call) =>
    run("glob", {
      case: "grepArgs",
      value: create(GrepArgsSchema, {
        pattern: "",
        glob: input.globPattern,
        outputMode: "files_with_matches",
        toolCallId: call.callId,
        ...(input.targetDirectory ? { path: input.targetDirectory } : {}),
      }),
    }),
  proceed(input, call, [report]) {
    const answer = answerOf(report, "grepResult");
    if (!answer.ok) return fail(`The file search failed: ${answer.problem}.`);
    return settle(input, call.context, answer.value);
  },
});

/** A pattern without a leading `**` is meant at any depth; the fixed front of an absolute one is the directory. */
function normalise(pattern: string, directory: string | undefined): Input {
  let rest = pattern.replace(/^(?:\.[/\\]+)+/, "");
  let target = directory;
  if (isAbsolutePath(rest)) {
    const wild = rest.search(/[*?[{]/);
    const front = rest.slice(0, wild < 0 ? rest.length : wild);
    const cut = Math.max(front.lastIndexOf("/"), front.lastIndexOf("\\"));
    target = front.slice(0, cut) || front.slice(0, cut + 1);
    rest = rest.slice(cut + 1);
  }
  const anywhere = rest === "" || /^(?:\*\*(?:[/\\]|$)|!)/.test(rest);
  return { globPattern: anywhere ? rest : `**/${rest}`, ...(target ? { targetDirectory: target } : {}) };
}

function settle(input: Input, context: ToolContext, { result }: GrepResult): Step {
  if (result.case === "error")
    return fail(`The file search failed: ${bounded(result.value.error || "no reason given")}.`);
  if (result.case !== "success") return fail("The file search failed: the client gave an empty answer.");
  const found = withoutFolders(result.value, leftOutFolders(input.globPattern, input.targetDirectory));
  const roots = Object.entries(found.workspaceResults).sort(([one], [other]) => (one < other ? -1 : 1));
  const files = roots.flatMap(([root, union]) => namesIn(union).map((file) => ({ root, file })));
  const known = roots.reduce(
    (sum, [, { result: part }]) => sum + (part.case === "files" ? part.value.totalFiles : 0),
    0,
  );
  const total = Math.max(files.length, known);
  const listed = files.slice(0, limits.globFiles);
  const shown = listed.map(({ root, file }) => presentPath(root, file, context.workspace));
  const early = roots.some(([, { result: part }]) => part.value?.clientTruncated || part.value?.ripgrepTruncated);
  const place = input.targetDirectory ?? context.workspace ?? "";
  const lines = [...shown];
  if (total > shown.length) lines.push(`[showing ${shown.length} of ${plural(total, "file")}; use a narrower pattern]`);
  if (early) lines.push("[the client stopped searching early; there may be more files]");
  if (shown.length === 0) lines.unshift(`No files match ${input.globPattern}${place === "" ? "" : ` in ${place}`}.`);
  return {
    do: "finish",
    text: lines.join("\n"),
    body: body(input, {
      case: "success",
      value: {
        pattern: input.globPattern,
        path: resolvePath(context.workspace, result.value.path || place),
        files: shown,
        totalFiles: total,
        clientTruncated: total > shown.length || roots.some(([, union]) => union.result.value?.clientTruncated),
        ripgrepTruncated: roots.some(([, union]) => union.result.value?.ripgrepTruncated),
      },
    }),
  };
}

/** File names of an answer, also of one in another mode than asked. */
function namesIn({ result }: GrepUnionResult): string[] {
  if (result.case === "files") return result.value.files;
  if (result.case === "count") return result.value.counts.map(({ file }) => file);
  if (result.case === "content") return result.value.matches.map(({ file }) => file);
  return [];
}

function body(input: Input, result?: MessageInitShape<typeof GlobToolResultSchema>["result"]): ToolBody {
  return {
    case: "globToolCall",
    value: create(GlobToolCallSchema, { args: input, ...(result ? { result: { result } } : {}) }),
  };
}
