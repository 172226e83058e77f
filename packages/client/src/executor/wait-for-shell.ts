import { type ShellArgs, TimeoutBehavior } from "@keyturn/protocol/agent";
import { defaultShellTimeoutMs } from "./limits.js";
import type { RunningShell, ShellEnd } from "./running-shell.js";
import type { BackgroundShell, Shells } from "./shells.js";

/** What waiting for a command came to. */
export type Waited =
  | { readonly how: "ended"; readonly end: ShellEnd }
  | { readonly how: "backgrounded"; readonly background: BackgroundShell; readonly by: "timeout" | "user" };

/** The time a command may take: absent and senseless values mean the default. */
export function timeoutOf({ timeout }: ShellArgs): number {
  return timeout > 0 ? timeout : defaultShellTimeoutMs;
}

/** Waits until a command ends, is stopped for time or by the server, or goes to the background. */
export async function waitForShell(
  shell: RunningShell,
  args: ShellArgs,
  mayGoOn: boolean,
  signal: AbortSignal,
  shells: Shells,
): Promise<Waited> {
  const abort = (): void => void shell.stop("abort");
  let timer: NodeJS.Timeout | undefined;
  let unregister = (): void => undefined;
  try {
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return await new Promise<Waited>((resolve) => {
      unregister = shells.await(shell, (background) => resolve({ how: "backgrounded", background, by: "user" }));
      void shell.ended.then((end) => resolve({ how: "ended", end }));
      timer = setTimeout(() => {
        if (shell.hasEnded) return;
        if (mayGoOn && args.timeoutBehavior === TimeoutBehavior.BACKGROUND) {
          resolve({ how: "backgrounded", background: shells.background(shell), by: "timeout" });
        } else void shell.stop("timeout");
      }, timeoutOf(args));
    });
  } finally {
    clearTimeout(timer);
    unregister();
    signal.removeEventListener("abort", abort);
  }
}
