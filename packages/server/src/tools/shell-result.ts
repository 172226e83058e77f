import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ShellAbortReason,
  type ShellResultSchema,
  type ShellStream,
  type ShellStreamBackgrounded,
  type ShellStreamExit,
} from "@keyturn/protocol/agent";
import { bounded } from "./answers.js";
import { limits } from "./limits.js";
import { isSamePath } from "./paths.js";
import { terminalText } from "./terminal-text.js";
import { fitMiddle } from "./text.js";
import type { CapturedOutput } from "./tool.js";

/** The command a result belongs to. */
export interface ShellCommand {
  readonly command: string;
  readonly workingDirectory: string;
  readonly timeoutMs: number;
}

/** A shell's end: for the model and for the ToolCall. */
export interface ShellEnd {
  readonly text: string;
  readonly isError: boolean;
  readonly result: MessageInitShape<typeof ShellResultSchema>;
}

/** Output of a command that printed nothing, or of which nothing was captured. */
export const noOutput: CapturedOutput = { stdout: "", stderr: "", interleaved: "", omittedBytes: 0 };

const interrupted = { exitCode: -1, signal: "SIGTERM", aborted: true } as const;

/** Reads the terminal event of a shell stream. Null for events that do not end it. */
export function shellEnd(command: ShellCommand, event: ShellStream["event"], output: CapturedOutput): ShellEnd | null {
  const place = { command: command.command, workingDirectory: command.workingDirectory };
  switch (event.case) {
    case "exit":
      return exitEnd(command, event.value, output);
    case "backgrounded":
      return backgroundEnd(command, event.value, output);
    case "rejected": {
      const reason = bounded(event.value.reason || "no reason given");
      return refused(`The command was rejected: ${reason}`, {
        result: { case: "rejected", value: { ...place, reason, isReadonly: event.value.isReadonly } },
      });
    }
    case "permissionDenied": {
      const error = bounded(event.value.error || "no reason given");
      return refused(`Permission denied for the command: ${error}`, {
        result: { case: "permissionDenied", value: { ...place, error, isReadonly: event.value.isReadonly } },
      });
    }
    case "sandboxUnsupported": {
      const reason = `the client cannot run it in the sandbox asked for (${bounded(event.value.reason || event.value.sandboxPolicyType || "no reason given")})`;
      return refused(`The command was not run: ${reason}`, {
        result: { case: "rejected", value: { ...place, reason, isReadonly: event.value.isReadonly } },
      });
    }
    default:
      return null;
  }
}

/** The end of a command whose stream was cut: what it printed until then, and why nothing more is known. */
export function interruptedEnd(
  command: ShellCommand,
  output: CapturedOutput,
  problem: string,
  aborted: boolean,
): ShellEnd {
  const { command: text, workingDirectory } = command;
  const said = withOutput(output, `[no exit code: ${problem}]`);
  if (!aborted)
    return refused(said, {
      result: { case: "spawnError", value: { command: text, workingDirectory, error: problem } },
    });
  const value = { ...streams(command, output), ...interrupted, abortReason: ShellAbortReason.USER_ABORT };
  return refused(said, { result: { case: "failure", value } });
}

function exitEnd(command: ShellCommand, exit: ShellStreamExit, output: CapturedOutput): ShellEnd {
  const { outputLocation, localExecutionTimeMs } = exit;
  const whole = outputLocation?.filePath
    ? `[the whole output is in ${outputLocation.filePath} (${outputLocation.sizeBytes} bytes, ${outputLocation.lineCount} lines)]\n`
    : "";
  const end = (line: string) => withOutput(output, whole + line);
  if (exit.aborted && exit.abortReason === ShellAbortReason.TIMEOUT) {
    const { command: text, workingDirectory, timeoutMs } = command;
    return refused(
      end(
        `[stopped after ${timeoutMs} ms: the command did not end in time; give a larger timeout_ms if it needs longer]`,
      ),
      { result: { case: "timeout", value: { command: text, workingDirectory, timeoutMs } } },
    );
  }
  const facts = {
    ...streams(command, output),
    workingDirectory: exit.cwd || command.workingDirectory,
    executionTime: localExecutionTimeMs ?? 0,
    ...(localExecutionTimeMs === undefined ? {} : { localExecutionTimeMs }),
    ...(outputLocation ? { outputLocation } : {}),
  };
  if (exit.aborted) {
    const value = { ...facts, ...interrupted, abortReason: exit.abortReason ?? ShellAbortReason.UNSPECIFIED };
    return refused(end("[stopped before the command ended]"), { result: { case: "failure", value } });
  }
  const moved = exit.cwd !== "" && !isSamePath(exit.cwd, command.workingDirectory) ? `, now in ${exit.cwd}` : "";
  const text = end(`[exit code ${exit.code}${moved}]`);
  const exitCode = exit.code | 0;
  if (exitCode === 0)
    return { text, isError: false, result: { result: { case: "success", value: { ...facts, exitCode } } } };
  return refused(text, { result: { case: "failure", value: { ...facts, exitCode } } });
}

function backgroundEnd(command: ShellCommand, event: ShellStreamBackgrounded, output: CapturedOutput): ShellEnd {
  const { shellId, pid, msToWait, reason } = event;
  const process = pid === undefined ? "" : `, process ${pid}`;
  return {
    text: withOutput(output, `[the command goes on in the background as shell ${shellId}${process}]`),
    isError: false,
    result: {
      isBackground: true,
      ...(pid === undefined ? {} : { pid }),
      result: {
        case: "success",
        value: { ...streams(command, output), exitCode: 0, shellId, pid, msToWait, backgroundReason: reason },
      },
    },
  };
}

function refused(text: string, result: ShellEnd["result"]): ShellEnd {
  return { text, isError: true, result };
}

/** Output as a reader of the terminal saw it, both streams in their order, then the closing line. */
function withOutput(output: CapturedOutput, line: string): string {
  const joined = output.interleaved || [output.stdout, output.stderr].filter((each) => each !== "").join("\n");
  const text = terminalText(joined).replace(/\s+$/, "");
  const omitted =
    output.omittedBytes > 0 ? `[truncated: ${output.omittedBytes} bytes of output left out in the middle]\n` : "";
  const shown = text === "" ? "[no output]" : fitMiddle(text, limits.shellOutputBytes, "Shell").text;
  return `${shown}\n${omitted}${line}`;
}

function streams(command: ShellCommand, output: CapturedOutput) {
  return {
    command: command.command,
    workingDirectory: command.workingDirectory,
    stdout: fitMiddle(output.stdout, limits.shellStreamBytes, "Shell").text,
    stderr: fitMiddle(output.stderr, limits.shellStreamBytes, "Shell").text,
    interleavedOutput: fitMiddle(output.interleaved, limits.shellOutputBytes, "Shell").text,
  };
}
