import type { ExecArgsInit } from "@keyturn/protocol/init";
import type { Draft } from "./draft.js";
import { execFrame } from "./frames.js";

/** Asks the client to execute something (O2). */
export function openExec(draft: Draft, callId: string | null, key: string, args: ExecArgsInit): void {
  const exec = draft.state.nextExec;
  const execId = `exec_${draft.state.request?.tag ?? "none"}_${exec}`;
  draft.add({ kind: "exec-opened", exec, execId, callId, key }, { frame: execFrame(exec, execId, args) });
}
