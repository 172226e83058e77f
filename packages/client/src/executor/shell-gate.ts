import type { ExecutorContext } from "./executor-context.js";
import type { HookedCall } from "./hooks.js";

/** A command as gate and hooks see it. */
export interface GatedCommand {
  readonly command: string;
  readonly workingDirectory: string;
  readonly hook: HookedCall;
}

/** What a request to run a command is about, its directory resolved. */
export function gatedCommand(
  { command, workingDirectory, toolCallId }: { command: string; workingDirectory: string; toolCallId: string },
  context: ExecutorContext,
): GatedCommand {
  const directory = context.shells.directoryFor(workingDirectory);
  const input = { command, cwd: directory };
  return {
    command,
    workingDirectory: directory,
    hook: { event: "beforeShellExecution", toolName: "Shell", input, toolCallId },
  };
}

/** Why a command must not run, or null. */
export function refusalOf({ command, workingDirectory, hook }: GatedCommand, context: ExecutorContext) {
  return context.gate.refusal({ tool: "shell", command, path: workingDirectory, hook });
}

/** Tells the hooks how a command went. */
export function tellHooks(gated: GatedCommand, output: string, durationMs: number, context: ExecutorContext) {
  return context.hooks.after(
    { ...gated.hook, event: "afterShellExecution" },
    { output, tool_output: output, duration: durationMs, duration_ms: durationMs },
  );
}
