import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  SandboxPolicy_Type,
  ShellAbortReason,
  type ShellArgs,
  ShellBackgroundReason,
  type ShellStreamSchema,
} from "@keyturn/protocol/agent";
import { messageOf } from "./errors.js";
import { type Call, ExecutionFailure } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import { HeadTail } from "./head-tail.js";
import { limits } from "./limits.js";
import type { ShellEnd } from "./running-shell.js";
import { gatedCommand, refusalOf, tellHooks } from "./shell-gate.js";
import type { OutputStream } from "./shell-output.js";
import type { BackgroundShell } from "./shells.js";
import { timeoutOf, waitForShell } from "./wait-for-shell.js";

type Event = NonNullable<MessageInitShape<typeof ShellStreamSchema>["event"]>;

/**
 * Runs a command and sends its output as it comes: start, output, then exit, backgrounded or rejected. A command that
 * cannot be started fails the execution. The exit code of a signal is told as a shell does (128 and more).
 */
export async function executeShellStream(args: ShellArgs, call: Call, context: ExecutorContext): Promise<void> {
  const send = (event: Event) => call.answer({ case: "shellStream", value: { event } });
  const gated = gatedCommand(args, context);
  const { command, workingDirectory } = gated;
  const reason = await refusalOf(gated, context);
  if (reason !== null) {
    send({ case: "rejected", value: { command, workingDirectory, reason } });
    return;
  }
  const forward = new Forwarder((stream, data) => send({ case: stream, value: { data } }));
  const onOutput = (stream: OutputStream, text: string) => forward.take(stream, text);
  const failed = (cause: unknown): never => {
    throw new ExecutionFailure(messageOf(cause), { cause });
  };
  await context.shells.check(args.workingDirectory).catch(failed);
  await call.begin();
  const shell = await context.shells
    .start({ ...args, thresholdBytes: thresholdOf(args), hardTimeoutMs: args.hardTimeout, onOutput })
    .catch(failed);
  send({ case: "start", value: { sandboxPolicy: { type: SandboxPolicy_Type.INSECURE_NONE } } });
  if (args.isBackground) {
    send(backgrounded(context.shells.background(shell), 0, ShellBackgroundReason.UNSPECIFIED));
    return;
  }
  const waited = await waitForShell(shell, args, true, call.signal, context.shells);
  forward.end();
  if (waited.how === "backgrounded") {
    const byUser = waited.by === "user";
    const why = byUser ? ShellBackgroundReason.USER_REQUEST : ShellBackgroundReason.TIMEOUT;
    send(backgrounded(waited.background, byUser ? 0 : timeoutOf(args), why));
    return;
  }
  await tellHooks(gated, shell.output.interleaved.text(), waited.end.executionTimeMs, context);
  send(exitOf(waited.end));
}

/** Output longer than this goes to a file; without a threshold only what is too long to be sent. */
export function thresholdOf({ fileOutputThresholdBytes }: ShellArgs): number {
  return Math.min(Number(fileOutputThresholdBytes || limits.streamedBytes), limits.streamedBytes);
}

function exitOf({ exitCode, stopped, cwd, executionTimeMs, file }: ShellEnd): Event {
  return {
    case: "exit",
    value: {
      code: exitCode,
      cwd,
      localExecutionTimeMs: executionTimeMs,
      aborted: stopped !== null,
      ...(stopped === null ? {} : { abortReason: abortReasonOf(stopped) }),
      ...(file === null ? {} : { outputLocation: file }),
    },
  };
}

/** The wire's word for why a command was stopped. */
export function abortReasonOf(stopped: NonNullable<ShellEnd["stopped"]>): ShellAbortReason {
  return stopped === "timeout" ? ShellAbortReason.TIMEOUT : ShellAbortReason.USER_ABORT;
}

function backgrounded({ shellId, shell }: BackgroundShell, msToWait: number, reason: ShellBackgroundReason): Event {
  const { command, workingDirectory, pid } = shell;
  return { case: "backgrounded", value: { shellId, command, workingDirectory, pid, msToWait, reason } };
}

/** Sends output up to a bound, and of what goes beyond only the end. */
class Forwarder {
  readonly #send: (stream: OutputStream, text: string) => void;
  readonly #rest = new HeadTail(limits.outputTailCharacters);
  #room: number = limits.streamedBytes;
  #stream: OutputStream = "stdout";
  #ended = false;

  constructor(send: (stream: OutputStream, text: string) => void) {
    this.#send = send;
  }

  take(stream: OutputStream, text: string): void {
    if (this.#ended) return;
    this.#stream = stream;
    if (this.#room <= 0) this.#rest.add(text);
    else this.#send(stream, text);
    this.#room -= text.length;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const rest = this.#rest.text();
    if (rest !== "") this.#send(this.#stream, rest);
  }
}
