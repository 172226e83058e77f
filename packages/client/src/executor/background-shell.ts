import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type BackgroundShellSpawnArgs,
  type ForceBackgroundShellArgs,
  ForceBackgroundShellStatus,
  type WriteShellStdinArgs,
} from "@keyturn/protocol/agent";
import { messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import { inBackground } from "./shell.js";
import { gatedCommand, refusalOf } from "./shell-gate.js";

/** Starts a command in the background. Its output goes to a file in the terminals folder. */
export async function executeBackgroundSpawn(
  args: BackgroundShellSpawnArgs,
  call: Call,
  context: ExecutorContext,
): Promise<void> {
  const gated = gatedCommand(args, context);
  const { command, workingDirectory } = gated;
  const reason = await refusalOf(gated, context);
  if (reason !== null) {
    const value = { command, workingDirectory, reason };
    call.answer({ case: "backgroundShellSpawnResult", value: { result: { case: "rejected", value } } });
    return;
  }
  await call.begin();
  try {
    // Without a threshold: the terminal's file holds all of it already.
    const shell = await context.shells.start({
      ...args,
      closeStdin: false,
      thresholdBytes: Number.POSITIVE_INFINITY,
    });
    const { shellId } = context.shells.background(shell);
    const value = { shellId, command, workingDirectory: shell.workingDirectory, pid: shell.pid };
    call.answer({ case: "backgroundShellSpawnResult", value: { result: { case: "success", value } } });
  } catch (cause) {
    const value = { command, workingDirectory, error: messageOf(cause) };
    call.answer({ case: "backgroundShellSpawnResult", value: { result: { case: "error", value } } });
  }
}

/** Types into a background command; what is typed is judged like a command of its own. */
export async function executeWriteStdin(
  { shellId, chars }: WriteShellStdinArgs,
  call: Call,
  context: ExecutorContext,
): Promise<void> {
  const fail = (error: string) =>
    call.answer({ case: "writeShellStdinResult", value: { result: { case: "error", value: { error } } } });
  const found = context.shells.find(shellId);
  if (!found) {
    fail(`Shell not found: ${shellId}`);
    return;
  }
  const { shell, file } = found;
  const decision = await context.gate.refusal({ tool: "shell", command: chars, path: shell.workingDirectory });
  if (decision !== null) {
    fail(decision);
    return;
  }
  await call.begin();
  const length = file.length;
  if (!shell.write(chars)) {
    fail(`Shell ${shellId} takes no input any more: ${shell.hasEnded ? "it has ended" : "its input is closed"}.`);
    return;
  }
  file.append(`[stdin] ${chars.endsWith("\n") ? chars : `${chars}\n`}`);
  const value = { shellId, terminalFileLengthBeforeInputWritten: length };
  call.answer({ case: "writeShellStdinResult", value: { result: { case: "success", value } } });
}

/** Moves a command that is being waited for to the background. */
export async function executeForceBackground(
  { toolCallId }: ForceBackgroundShellArgs,
  call: Call,
  context: ExecutorContext,
): Promise<void> {
  const found = context.shells.force(toolCallId);
  // The stream's own event goes out first: whoever reads in order then knows the shell already.
  await nextTurn();
  call.answer({
    case: "forceBackgroundShellResult",
    value: found
      ? {
          status: ForceBackgroundShellStatus.ACCEPTED,
          shellResult: inBackground(found.shell, found.shellId, context),
        }
      : { status: ForceBackgroundShellStatus.NOT_FOUND },
  });
}
