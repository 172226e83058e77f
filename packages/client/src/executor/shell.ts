import type { MessageInitShape } from "@bufbuild/protobuf";
import { SandboxPolicy_Type, type ShellArgs, type ShellResultSchema } from "@keyturn/protocol/agent";
import { messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import type { RunningShell, ShellEnd } from "./running-shell.js";
import { gatedCommand, refusalOf, tellHooks } from "./shell-gate.js";
import { abortReasonOf, thresholdOf } from "./shell-stream.js";
import { waitForShell } from "./wait-for-shell.js";

type Result = MessageInitShape<typeof ShellResultSchema>;

/** Runs a command and answers once, at its end. A long output is told by its beginning and end, and where all of it is. */
export async function executeShell(args: ShellArgs, call: Call, context: ExecutorContext): Promise<void> {
  const answer = (value: Result) => call.answer({ case: "shellResult", value });
  const gated = gatedCommand(args, context);
  const { command, workingDirectory } = gated;
  const reason = await refusalOf(gated, context);
  if (reason !== null) {
    answer({ result: { case: "rejected", value: { command, workingDirectory, reason } } });
    return;
  }
  await call.begin();
  let shell: RunningShell;
  try {
    const thresholdBytes = thresholdOf(args);
    shell = await context.shells.start({ ...args, thresholdBytes, hardTimeoutMs: args.hardTimeout });
  } catch (cause) {
    answer({ result: { case: "spawnError", value: { command, workingDirectory, error: messageOf(cause) } } });
    return;
  }
  if (args.isBackground) {
    const { shellId } = context.shells.background(shell);
    answer(inBackground(shell, shellId, context));
    return;
  }
  const waited = await waitForShell(shell, args, false, call.signal, context.shells);
  if (waited.how === "backgrounded") {
    answer(inBackground(shell, waited.background.shellId, context));
    return;
  }
  await tellHooks(gated, shell.output.interleaved.text(), waited.end.executionTimeMs, context);
  answer(resultOf(shell, waited.end));
}

/** What a command that goes on in the background has printed so far, and under which id it goes on. */
export function inBackground(shell: RunningShell, shellId: number, context: ExecutorContext): Result {
  const { command, workingDirectory, pid, output } = shell;
  const interleavedOutput = output.interleaved.text();
  return {
    isBackground: true,
    pid,
    terminalsFolder: context.folders.terminals,
    result: { case: "success", value: { command, workingDirectory, shellId, pid, interleavedOutput } },
  };
}

function resultOf(shell: RunningShell, end: ShellEnd): Result {
  const { stdout, stderr, interleaved } = shell.output;
  const { elided } = interleaved;
  const facts = {
    command: shell.command,
    workingDirectory: shell.workingDirectory,
    signal: end.signal,
    stdout: stdout.text(),
    stderr: stderr.text(),
    interleavedOutput: interleaved.text(),
    executionTime: end.executionTimeMs,
    localExecutionTimeMs: end.executionTimeMs,
    ...(end.file === null ? {} : { outputLocation: end.file }),
    ...(elided === 0 ? {} : { outputHead: interleaved.head, outputTail: interleaved.tail, elidedChars: elided }),
  };
  const sandboxPolicy = { type: SandboxPolicy_Type.INSECURE_NONE };
  if (end.exitCode === 0 && end.stopped === null)
    return { sandboxPolicy, result: { case: "success", value: { ...facts, exitCode: 0 } } };
  const killed = end.stopped !== null || end.signal !== "";
  const value = {
    ...facts,
    exitCode: killed ? -1 : end.exitCode,
    aborted: end.stopped !== null,
    ...(end.stopped === null ? {} : { abortReason: abortReasonOf(end.stopped) }),
  };
  return { sandboxPolicy, result: { case: "failure", value } };
}
