import type {
  AgentClientMessage,
  ExecClientControlMessage,
  ExecClientMessage,
  KvClientMessage,
} from "@keyturn/protocol/agent";
import { advanceCall } from "./decide-call.js";
import { confirmBlob, receiveBlob } from "./decide-checkpoint.js";
import { cancelRun, failRun, isFinishing, startPass } from "./decide-end.js";
import type { Draft } from "./draft.js";
import { fault } from "./faults.js";
import { abortFrame, shellOutputFrame, userMessageFrame } from "./frames.js";
import { openExec } from "./open-exec.js";
import type { RunOptions } from "./records.js";
import type { ExecState } from "./state.js";

/** Options of a run whose starting append waited in the inbox across a change of owner. */
const fallbackOptions: RunOptions = { disconnectGraceMs: 30_000, maxPasses: 200, totalMs: 86_400_000 };

/** True for messages that start a run, and so fix the base of the append numbers. */
export function startsRun(message: AgentClientMessage): boolean {
  return message.message.case === "runRequest" || message.message.case === "prewarmRequest";
}

/** True for answers about blobs, which never wait for their turn. */
export function isKv(message: AgentClientMessage): boolean {
  return message.message.case === "kvClientMessage";
}

/** True for messages that answer something the server asked. */
export function isAnswer(message: AgentClientMessage): boolean {
  const of = message.message.case;
  return of === "execClientMessage" || of === "kvClientMessage" || of === "interactionResponse";
}

/** True for messages that only say "I am alive": they are counted, never stored (I9). */
export function isSignOfLife(message: AgentClientMessage): boolean {
  const of = message.message;
  return (
    of.case === "clientHeartbeat" || (of.case === "execClientControlMessage" && of.value.message.case === "heartbeat")
  );
}

/** Lets one client message have its effect. Unknown cases and late answers have none (I10, C2). */
export function decideMessage(draft: Draft, number: number, message: AgentClientMessage, options?: RunOptions): void {
  const of = message.message;
  switch (of.case) {
    case "runRequest":
      return acceptRun(draft, message, options ?? fallbackOptions);
    case "execClientMessage":
      return acceptExecMessage(draft, number, of.value);
    case "execClientControlMessage":
      return acceptExecControl(draft, of.value);
    case "kvClientMessage":
      return acceptKv(draft, of.value);
    case "conversationAction":
      if (of.value.action.case !== "cancelAction") return;
      return cancelRun(draft, fault("run/canceled", of.value.action.value.reason || "The user canceled the run."));
    default:
      return;
  }
}

function acceptRun(draft: Draft, message: AgentClientMessage, options: RunOptions): void {
  // A client that lost its connection may send the request again under a new number: it is one run. And one that
  // ended before it began, by a cancel or an invalid request whose successors lay in the inbox, stays ended.
  if (draft.state.request || isFinishing(draft.state)) return;
  const { logic, now } = draft.world;
  const begun = logic.begin(draft.state.key, message, now);
  if ("code" in begun) return failRun(draft, begun);
  const { conversationId, model, tag, facts, held, blobs } = begun;
  draft.add({ kind: "run-accepted", conversationId, model, tag, facts, options, held }, { blobs });
  if (begun.userMessage) draft.notice(userMessageFrame(begun.userMessage));
  if (!begun.wantsContext) return startPass(draft);
  openExec(draft, null, "request-context", { case: "requestContextArgs", value: {} });
}

function acceptExecMessage(draft: Draft, number: number, message: ExecClientMessage): void {
  const exec = findExec(draft, message.id, message.execId);
  if (exec?.status !== "open") return;
  if (message.message.case === "shellStream" && !draft.world.logic.isTerminal(message)) {
    const event = message.message.value.event;
    if (event.case !== "stdout" && event.case !== "stderr") return;
    const text = event.value.data;
    if (text === "") return;
    draft.add(
      { kind: "exec-output", exec: exec.exec, channel: event.case, text },
      { frame: shellOutputFrame(event.case, text) },
    );
    return;
  }
  if (!draft.world.logic.isTerminal(message)) return;
  draft.add({ kind: "exec-answered", exec: exec.exec, how: "answered", number });
  if (exec.closeSeenAt !== undefined) draft.add({ kind: "exec-closed", exec: exec.exec });
  afterOutcome(draft, exec, message);
}

function acceptExecControl(draft: Draft, control: ExecClientControlMessage): void {
  const of = control.message;
  if (of.case !== "streamClose" && of.case !== "throw") return;
  const exec = draft.state.execs.get(of.value.id);
  if (!exec || exec.status === "closed") return;
  if (exec.status === "answered") return draft.add({ kind: "exec-closed", exec: exec.exec });
  if (of.case === "streamClose") {
    // The result may still be on its way; a timer gives it a short grace.
    if (exec.closeSeenAt === undefined) draft.add({ kind: "exec-close-seen", exec: exec.exec });
    return;
  }
  giveUpExec(draft, exec, "thrown", of.value.error);
}

/** Ends an execution that will give no result; `aborted` and `silent` ones are closed for good. */
export function giveUpExec(
  draft: Draft,
  exec: ExecState,
  how: "thrown" | "closed" | "silent" | "aborted",
  error?: string,
): void {
  // The client may still be at it; what nobody waits for any more is to be stopped (O3).
  if (how === "silent") draft.notice(abortFrame(exec.exec));
  draft.add({ kind: "exec-answered", exec: exec.exec, how, error });
  draft.add({ kind: "exec-closed", exec: exec.exec });
  if (how !== "aborted") afterOutcome(draft, exec, null);
}

function afterOutcome(draft: Draft, exec: ExecState, message: ExecClientMessage | null): void {
  if (exec.callId !== null) return advanceCall(draft, exec.callId);
  draft.add({ kind: "facts-changed", facts: draft.world.logic.withContext(draft.state.facts, message) });
}

function findExec(draft: Draft, id: number, execId: string): ExecState | undefined {
  if (execId === "") return draft.state.execs.get(id);
  // The text id is authoritative when it is there: numbers may be reused by clients, it is not (tools.md B.1).
  return [...draft.state.execs.values()].find((exec) => exec.execId === execId);
}

function acceptKv(draft: Draft, kv: KvClientMessage): void {
  const of = kv.message;
  if (of.case === "setBlobResult") return confirmBlob(draft, kv.id, of.value.error === undefined);
  if (of.case === "getBlobResult") return receiveBlob(draft, kv.id, of.value.blobData);
}
