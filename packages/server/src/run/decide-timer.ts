import { decideAppend } from "./decide-append.js";
import { drop } from "./decide-checkpoint.js";
import { cancelRun, failRun } from "./decide-end.js";
import { giveUpExec } from "./decide-message.js";
import type { Draft } from "./draft.js";
import { fault } from "./faults.js";
import { lowestWaiting } from "./sequence.js";
import { deadlines } from "./wanted.js";

/**
 * A timer only wakes: whether a deadline has really passed is computed again from the state and the signs.
 * A timer of something that is over does nothing.
 */
export function decideTimer(draft: Draft, name: string): void {
  const due = deadlines(draft.state, draft.world.signs, draft.world.limits).find((one) => one.name === name);
  if (!due || due.at > draft.world.now) return;
  const [what, id] = split(name);
  switch (what) {
    case "start":
      return failRun(draft, fault("append/gap", "The message that starts the run never arrived."));
    case "gap":
      return closeGap(draft);
    case "exec-silent":
      return withExec(draft, id, (exec) => giveUpExec(draft, exec, "silent"));
    case "exec-close":
      return withExec(draft, id, (exec) => {
        if (exec.status === "open") return giveUpExec(draft, exec, "closed");
        draft.add({ kind: "exec-closed", exec: exec.exec });
      });
    case "blob-ask":
      return draft.add({ kind: "blob-received", kv: Number(id), found: false });
    case "checkpoint":
      return drop(
        draft,
        draft.state.checkpoint.pending?.revision ?? draft.state.checkpoint.wanted,
        "the client did not confirm its blobs in time",
      );
    case "grace":
      return cancelRun(draft, fault("run/no-client", "The client closed its stream and did not come back in time."));
    case "total":
      return failRun(draft, fault("run/deadline", "The run reached its total time limit."));
    case "pass-silent":
      return failRun(draft, fault("model/timeout", "Nothing was heard of the model call for too long."));
  }
}

function closeGap(draft: Draft): void {
  const { sequence, takeovers } = draft.state;
  const upTo = lowestWaiting(sequence);
  if (upTo === undefined) return;
  if (takeovers === 0) {
    const missing = sequence.next ?? 0;
    const detail = `Append number ${missing} never arrived, although ${upTo} did. The run cannot go on without it.`;
    return failRun(draft, fault("append/gap", detail));
  }
  // Heartbeats the former owner saw are in no log: what is missing since the change of owner is taken for one.
  draft.add({ kind: "gap-passed", upTo });
  decideAppend(draft, { kind: "numbers", numbers: [] });
}

function withExec(
  draft: Draft,
  id: string,
  change: (exec: NonNullable<ReturnType<typeof draft.state.execs.get>>) => void,
): void {
  const exec = draft.state.execs.get(Number(id));
  if (exec) change(exec);
}

function split(name: string): [string, string] {
  const at = name.indexOf(":");
  return at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at + 1)];
}
