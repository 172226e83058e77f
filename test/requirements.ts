/** One promised behaviour. The text stands in the specification; here is where it is proven, or which work it waits for. */
export interface Requirement {
  readonly id: string;
  readonly says: string;
  /** Set while it is not built: its missing proof is then an expected failure, which turns red once there is one. */
  readonly pending?: string;
}

/**
 * Every behaviour the system promises. A test proves one by naming its id in its title, e.g.
 * `test("appends in any order have one effect (A1, A2)", ...)`; test/contract/requirements.test.ts collects them.
 */
export const requirements: readonly Requirement[] = [
  { id: "T1", says: "BidiAppend: an empty ack once the append is in the log, never waiting for a model or tool" },
  { id: "T2", says: "RunSSE streams one request id; an empty body falls back to x-request-id" },
  { id: "T3", says: "content type exactly application/connect+proto; text/event-stream by a rule per client class" },
  { id: "T4", says: "headers at once, no buffering, no compression" },
  { id: "T5", says: "Run over HTTP/2; h1 and h2c on one port; TLS with ALPN when configured" },
  { id: "T6", says: "RunPoll: the same log by position" },
  { id: "T7", says: "append payload as hex or bytes; malformed is invalid_argument naming the field" },
  { id: "T8", says: "every outcome ends the stream as a Connect end-of-stream with readable details" },
  { id: "T9", says: "account and catalogue endpoints, and an empty answer elsewhere" },
  { id: "A1", says: "order by append number, 0- or 1-based, bounded waiting, a gap that stays ends the run clearly" },
  {
    id: "A2",
    says: "the same number and bytes again have no second effect, other bytes are refused, also after a restart",
  },
  { id: "A3", says: "a reused request id opens a new generation once the old one is at rest" },
  { id: "A4", says: "a failed append does not consume its number; the sequence is rebuilt from the log" },
  { id: "A5", says: "acks for blobs and heartbeats do not wait behind a missing number" },
  { id: "I1", says: "run_request is read whole" },
  { id: "I2", says: "prewarm_request prepares without a model call", pending: "conversations" },
  { id: "I3", says: "conversation_action starts work or cancels", pending: "every bridge" },
  { id: "I4", says: "the other actions have their real effect", pending: "every bridge" },
  { id: "I5", says: "results and progress of every execution kind", pending: "every bridge" },
  { id: "I6", says: "stream_close, throw and heartbeat of an execution" },
  { id: "I7", says: "interaction responses", pending: "every bridge" },
  { id: "I8", says: "set_blob_result and get_blob_result" },
  { id: "I9", says: "client_heartbeat is liveness only" },
  { id: "I10", says: "unknown cases and fields are kept, counted and harmless" },
  {
    id: "O1",
    says: "every interaction update",
    pending: "every bridge, conversations (summary, partial and delta kinds)",
  },
  { id: "O2", says: "every execution kind is sent", pending: "every bridge" },
  { id: "O3", says: "abort for what is still open when a run is cancelled" },
  { id: "O4", says: "a checkpoint after every completed step, once its blobs are acknowledged" },
  { id: "O5", says: "set_blob_args and get_blob_args" },
  { id: "O6", says: "interaction queries", pending: "every bridge" },
  { id: "O7", says: "every tool call shows started and completed with arguments and result, failures too" },
  { id: "C1", says: "every id is unique in its scope and stable across a restart" },
  { id: "C2", says: "late, duplicate and unknown answers are acked, counted, without effect" },
  { id: "R1", says: "one table of what each input does in each phase" },
  { id: "R2", says: "one mailbox a run, strictly one input at a time" },
  { id: "R3", says: "subscribers read the shared log at their own position; replay is the same bytes" },
  { id: "R4", says: "a heartbeat on an idle stream, not in the log" },
  { id: "R5", says: "grace after the last subscriber left, by client class" },
  { id: "R6", says: "a terminal run can be subscribed again and gives the same backlog and end" },
  { id: "R7", says: "two runs of one conversation: the newer supersedes, never a deadlock" },
  { id: "R8", says: "every wait has a reason and a deadline; exactly one end" },
  { id: "D1", says: "kill -9 at any point: same backlog, open executions under the same ids", pending: "durable runs" },
  { id: "D2", says: "a cut pass goes on from what was published, nothing doubled", pending: "durable runs" },
  { id: "D3", says: "conversations and blobs survive; a damaged one is set aside", pending: "durable runs" },
  { id: "D4", says: "on PostgreSQL another instance takes over", pending: "several instances" },
  { id: "D5", says: "graceful stop", pending: "durable runs" },
  { id: "U1", says: "pass, calls, results in call order, next pass, within limits" },
  { id: "U2", says: "resume, rewind, fork and clone start from the state the client names", pending: "conversations" },
  { id: "U3", says: "compaction", pending: "conversations" },
  { id: "U4", says: "modes, plans and todos", pending: "conversations" },
  { id: "U5", says: "subagents in foreground and background", pending: "every bridge" },
  { id: "U6", says: "request context reaches the prompt, size-limited, with a stable prefix" },
];
