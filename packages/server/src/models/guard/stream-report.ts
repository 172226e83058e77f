import type { Fault } from "../../run/faults.js";

/**
 * What the guard found out about one response, read by whoever consumes the parsed parts. A failure is noted
 * here and the stream then ends normally, so that nothing that came before the failure is lost on the way.
 */
export interface StreamReport {
  /** The protocol's own end was seen (I-84). */
  terminal: boolean;
  /** The failure that ended the stream, if any. */
  fault?: Fault;
  /** Events that carried data; keepalives do not count. */
  events: number;
  /** Field a chat provider wrote its reasoning to, to send it back the same way (I-110). */
  reasoningField?: "reasoning" | "reasoning_content";
}

/** A report of nothing yet. */
export function createStreamReport(): StreamReport {
  return { terminal: false, events: 0 };
}
