import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type GrepArgs,
  GrepArgsSchema,
  type GrepResult,
  type GrepResultSchema,
  GrepToolCallSchema,
} from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { type Call, defineTool, fail, objectSchema, run, type Step, type ToolBody } from "./define-tool.js";
import { boundGrep, type GrepWindow } from "./grep-answer.js";
import { leftOutFolders, withoutFolders } from "./left-out-folders.js";

interface Input {
  readonly search: Partial<Pick<GrepArgs, SearchField>> & { readonly pattern: string };
  readonly window: GrepWindow;
}

type SearchField =
  | "path"
  | "glob"
  | "type"
  | "outputMode"
  | "contextBefore"
  | "contextAfter"
  | "context"
  | "caseInsensitive"
  | "multiline";

const count = { type: "integer", minimum: 0 } as const;

/** Searches file contents with a regular expression on the client. */
export const grepTool = defineTool<Input>({
  name: "Grep",
  describe: () => ({
    description:
      "Search file contents with a regular expression (ripgrep syntax). Files that version control ignores are skipped, unless you give a glob; .git and node_modules always, unless path or glob names them. Answers with file:line:content, with file names, or with counts a file. Narrow the search with path, glob or type; page through long answers with head_limit and offset.",
    parameters: objectSchema(
      {
        pattern: { type: "string", description: "The regular expression." },
        path: { type: "string", description: "File or directory to search. Default: the workspace." },
        glob: { type: "string", description: 'Only files that match, e.g. "*.ts" or "**/*.{js,ts}".' },
        type: { type: "string", description: 'Only files of a ripgrep type, e.g. "js", "py", "rust".' },
        output_mode: {
          type: "string",
          enum: ["content", "files_with_matches", "count"],
          description: "content (default): matching lines; files_with_matches: file names; count: matches a file.",
        },
        "-A": { ...count, description: "Lines to show after each match (content mode)." },
        "-B": { ...count, description: "Lines to show before each match (content mode)." },
        "-C": { ...count, description: "Lines to show before and after each match (content mode)." },
        "-i": { type: "boolean", description: "Ignore case." },
        multiline: { type: "boolean", description: "Let the pattern span lines; . then matches newlines too." },
        head_limit: { ...count, description: "Show only the first N lines of output." },
        offset: { ...count, description: "Skip the first N lines of output." },
      },
      ["pattern"],
    ),
  }),
  decode(reader, context) {
    const search = {
      pattern: reader.text(["pattern"]),
      path: reader.optionalPath(["path", "target_directory", "targetDirectory"], context),
      glob: reader.optionalText(["glob", "include"]) || undefined,
      type: reader.optionalText(["type"]) || undefined,
      outputMode: reader.choice(["output_mode", "outputMode"], ["content", "files_with_matches", "count"]) ?? "content",
      contextBefore: reader.integer(["-B", "context_before", "contextBefore"], 0),
      contextAfter: reader.integer(["-A", "context_after", "contextAfter"], 0),
      context: reader.integer(["-C", "context"], 0),
      caseInsensitive: reader.flag(["-i", "case_insensitive", "caseInsensitive"]),
      multiline: reader.flag(["multiline"]),
    };
    const window = {
      headLimit: reader.integer(["head_limit", "headLimit", "limit"], 0),
      offset: reader.integer(["offset"], 0),
    };
    return { search, window };
  },
  arguments: (input, call) => body(input, call),
  failure: (input, call, message) => body(input, call, { result: { case: "error", value: { error: message } } }),
  begin: (input, call) =>
    run("grep", { case: "grepArgs", value: create(GrepArgsSchema, { ...searchArgs(input), toolCallId: call.callId }) }),
  proceed(input, call, [report]) {
    const answer = answerOf(report, "grepResult");
    if (!answer.ok) return fail(`The search failed: ${answer.problem}.`);
    return settle(input, call, answer.value);
  },
});

/** A search without a name pattern gets one that spares version control's own files; a pattern of the model's stays. */
function searchArgs({ search }: Input): Input["search"] {
  const hidesGit = search.glob === undefined && leftOutFolders(search.path).includes(".git");
  return hidesGit ? { ...search, glob: "!.git" } : search;
}

function settle(input: Input, call: Call, { result }: GrepResult): Step {
  if (result.case === "error") return fail(`The search failed: ${bounded(result.value.error || "no reason given")}.`);
  if (result.case !== "success") return fail("The search failed: the client gave an empty answer.");
  const answer = withoutFolders(result.value, leftOutFolders(input.search.path, input.search.glob));
  const part = boundGrep(answer, input.window, call.context.workspace);
  const place = input.search.path ? ` in ${input.search.path}` : "";
  const none = `No matches for ${JSON.stringify(input.search.pattern)}${place}.`;
  const text = part.found ? part.text : [none, part.text].filter((each) => each !== "").join("\n");
  const { pattern, path, outputMode } = result.value;
  const value = { pattern, path, outputMode: outputMode || input.search.outputMode, workspaceResults: part.results };
  return { do: "finish", text, body: body(input, call, { result: { case: "success", value } }) };
}

function body(input: Input, call: Call, result?: MessageInitShape<typeof GrepResultSchema>): ToolBody {
  const args = { ...input.search, ...input.window, toolCallId: call.callId };
  return { case: "grepToolCall", value: create(GrepToolCallSchema, { args, ...(result ? { result } : {}) }) };
}
