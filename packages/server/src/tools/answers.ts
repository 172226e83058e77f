import type { ExecClientMessage } from "@keyturn/protocol/agent";
import { limits } from "./limits.js";
import { fitHead } from "./text.js";
import type { ExecOutcome, ExecReport } from "./tool.js";

type Answer = ExecClientMessage["message"];
type AnswerCase = NonNullable<Answer["case"]>;
type AnswerValue<Case extends AnswerCase> = Extract<Answer, { case: Case }>["value"];

/** The answer of the wanted kind, or in words why there is none. */
export type Answered<Case extends AnswerCase> =
  | { readonly ok: true; readonly value: AnswerValue<Case> }
  | { readonly ok: false; readonly problem: string };

/** Reads a report; an answer of another kind is a tool error like any other, never a fault of the run (W25). */
export function answerOf<const Case extends AnswerCase>(report: ExecReport | undefined, wanted: Case): Answered<Case> {
  if (report === undefined) return { ok: false, problem: "the execution has no report" };
  const { outcome } = report;
  if (outcome.how !== "answered") return { ok: false, problem: explainOutcome(outcome) };
  const answer = outcome.message.message;
  if (answer.case !== wanted) {
    return { ok: false, problem: `the client gave an answer of another kind (${answer.case ?? "empty"})` };
  }
  return { ok: true, value: answer.value as AnswerValue<Case> };
}

/** Why an execution has no answer, in words for the model. */
export function explainOutcome(outcome: Exclude<ExecOutcome, { how: "answered" }>): string {
  switch (outcome.how) {
    case "thrown":
      return outcome.error.startsWith("No handler found")
        ? "the client does not support this tool"
        : `the client failed: ${bounded(outcome.error || "no reason given")}`;
    case "closed":
      return "the client closed the execution without a result; it is unknown whether it took effect";
    case "silent":
      return "the client stopped answering; it is unknown whether the execution took effect";
    case "aborted":
      return "canceled before it finished; it may have taken effect in part";
  }
}

/** Text of the client's side, cut to what an error message may hold. */
export function bounded(text: string): string {
  return fitHead(text, limits.errorBytes, "error").text;
}
