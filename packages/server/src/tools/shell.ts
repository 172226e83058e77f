import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ExecClientMessage,
  LsArgsSchema,
  ShellArgsSchema,
  type ShellResultSchema,
  ShellToolCallSchema,
  TimeoutBehavior,
} from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import type { ArgumentReader } from "./args.js";
import { type Call, defineTool, fail, objectSchema, run, type Step, type ToolBody } from "./define-tool.js";
import { defaultShellTimeoutMs, longestShellTimeoutMs } from "./limits.js";
import { isAbsolutePath, isSamePath, isWindowsPath, resolvePath } from "./paths.js";
import { parseCommand } from "./shell-parsing.js";
import { interruptedEnd, noOutput, type ShellEnd, shellEnd } from "./shell-result.js";
import type { ExecReport, ToolContext } from "./tool.js";

interface Input {
  readonly command: string;
  readonly workingDirectory: string;
  /** The directory is the model's and must be seen to exist: a missing one crashes the client. */
  readonly checkDirectory: boolean;
  readonly timeoutMs: number;
  readonly description?: string;
}

/** Output above this goes to a file of the client as well, whose name is in the result. */
const fileOutputThresholdBytes = 40_000n;
const directoryCheckTimeoutMs = 10_000;
/** The client's last resort lies behind its ordinary timeout, so that the two cannot race. */
const hardTimeoutMarginMs = 10_000;

/** Runs a command in the client's shell and waits for its end. */
export const shellTool = defineTool<Input>({
  name: "Shell",
  describe: () => ({
    description: `Run a command in the user's shell and wait for it. Answers with the output and the exit code. A command that is still running after timeout_ms (default ${defaultShellTimeoutMs}) is stopped. There is no terminal and no input: use flags that avoid prompts and pagers. Prefer Read, Grep, Glob and Edit for files.`,
    parameters: objectSchema(
      {
        command: { type: "string", description: "The command line." },
        working_directory: {
          type: "string",
          description: "Existing directory, absolute or relative to the workspace. Default: the workspace.",
        },
        timeout_ms: {
          type: "integer",
          minimum: 1,
          maximum: longestShellTimeoutMs,
          description: `Milliseconds the command may take. Default ${defaultShellTimeoutMs}.`,
        },
        description: { type: "string", description: "What the command does, in a few words, for the user." },
      },
      ["command"],
    ),
  }),
  decode,
  arguments: (input, call) => body(input, call),
  failure: (input, call, message) => {
    const { command, workingDirectory } = input;
    return body(input, call, { result: { case: "spawnError", value: { command, workingDirectory, error: message } } });
  },
  isTerminal,
  begin: (input, call) => (input.checkDirectory ? checkDirectory(input, call) : runCommand(input, call)),
  proceed(input, call, reports) {
    if (!input.checkDirectory) return settle(input, call, reports[0]);
    const [directory, shell] = reports;
    if (shell) return settle(input, call, shell);
    const problem = directoryProblem(directory);
    if (problem === null) return runCommand(input, call);
    return fail(`The command was not run: the working directory ${input.workingDirectory} is not usable (${problem}).`);
  },
});

/** Output, start, hook context and events this version does not know leave the stream open. */
function isTerminal({ message }: ExecClientMessage): boolean {
  if (message.case === undefined) return false;
  if (message.case !== "shellStream") return true;
  const { event } = message.value;
  switch (event.case) {
    case "exit":
    case "backgrounded":
    case "rejected":
    case "permissionDenied":
    case "sandboxUnsupported":
      return true;
    default:
      return false;
  }
}

function decode(reader: ArgumentReader, context: ToolContext): Input {
  const command = reader.text(["command", "cmd"]);
  if (command.trim() === "" && reader.problems.length === 0) reader.problems.push('"command" must not be empty');
  const given = reader.optionalPath(["working_directory", "workingDirectory", "cwd"], context);
  if (given !== undefined && !isAbsolutePath(given)) {
    reader.problems.push('"working_directory" must be an absolute path, because the workspace is not known');
  }
  const asked = reader.integer([
    "timeout_ms",
    "timeoutMs",
    "block_until_ms",
    "blockUntilMs",
    "blockUntilMS",
    "timeout",
  ]);
  const description = reader.optionalText(["description"]);
  return {
    command,
    workingDirectory: given ?? context.workspace ?? "",
    checkDirectory: given !== undefined && (context.workspace === null || !isSamePath(given, context.workspace)),
    // Zero and less mean "do not wait" in other harnesses; as a time limit they would kill the command at once.
    timeoutMs: asked !== undefined && asked > 0 ? Math.min(asked, longestShellTimeoutMs) : defaultShellTimeoutMs,
    ...(description ? { description } : {}),
  };
}

function checkDirectory(input: Input, call: Call): Step {
  return run("directory", {
    case: "lsArgs",
    value: create(LsArgsSchema, {
      path: resolvePath(call.context.workspace, input.workingDirectory),
      // Only whether it exists matters, not what is in it.
      ignore: ["**"],
      timeoutMs: directoryCheckTimeoutMs,
      toolCallId: call.callId,
    }),
  });
}

function directoryProblem(report: ExecReport | undefined): string | null {
  const answer = answerOf(report, "lsResult");
  if (!answer.ok) return answer.problem;
  const { result } = answer.value;
  switch (result.case) {
    case "success":
    case "timeout":
      return null;
    case "error":
      return bounded(result.value.error || "it does not exist");
    case "rejected":
      return bounded(result.value.reason || "looking at it was rejected");
    default:
      return "the client gave an empty answer";
  }
}

function runCommand(input: Input, call: Call): Step {
  return run("shell", { case: "shellStreamArgs", value: create(ShellArgsSchema, shellArgs(input, call)) });
}

function shellArgs(input: Input, call: Call) {
  const parsingResult = parseCommand(input.command, isWindowsPath(input.workingDirectory));
  const operators = (parsingResult.redirects ?? []).map(({ operator }) => operator);
  return {
    ...shownArgs(input, call),
    simpleCommands: (parsingResult.executableCommands ?? []).map(({ fullText }) => fullText),
    hasInputRedirect: operators.some((operator) => operator.includes("<")),
    hasOutputRedirect: operators.some((operator) => operator.includes(">")),
    parsingResult,
    fileOutputThresholdBytes,
    timeoutBehavior: TimeoutBehavior.CANCEL,
    hardTimeout: input.timeoutMs + hardTimeoutMarginMs,
    closeStdin: true,
  };
}

function shownArgs({ command, workingDirectory, timeoutMs, description }: Input, call: Call) {
  const more = description ? { description } : {};
  return { command, workingDirectory, timeout: timeoutMs, toolCallId: call.callId, ...more };
}

function settle(input: Input, call: Call, report: ExecReport | undefined): Step {
  const output = report?.output ?? noOutput;
  const answer = answerOf(report, "shellStream");
  if (!answer.ok)
    return finish(input, call, interruptedEnd(input, output, answer.problem, report?.outcome.how === "aborted"));
  const end = shellEnd(input, answer.value.event, output);
  return finish(
    input,
    call,
    end ?? interruptedEnd(input, output, "the client ended the stream without an exit", false),
  );
}

function finish(input: Input, call: Call, { text, isError, result }: ShellEnd): Step {
  return { do: "finish", text, isError, body: body(input, call, result) };
}

function body(input: Input, call: Call, result?: MessageInitShape<typeof ShellResultSchema>): ToolBody {
  const args = shownArgs(input, call);
  const description = input.description ? { description: input.description } : {};
  return {
    case: "shellToolCall",
    value: create(ShellToolCallSchema, { args, ...description, ...(result ? { result } : {}) }),
  };
}
