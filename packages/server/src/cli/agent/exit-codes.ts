import type { RunOutcome } from "@keyturn/client";

/** Exit codes of the verbs that let an agent work. */
export const exitCode = { finished: 0, failed: 1, usage: 2, refused: 3, cancelled: 130 } as const;

/** For `--help`. */
export const agentExitCodes = `
Exit codes:
  0    the turn is finished
  1    the turn failed, or the server was lost
  2    wrong use or configuration: an option, the key, the address, the prompt
  3    refused: by the server (the model is not configured, the request is not valid), by the model
       provider (key, quota, filter), or by your policy: something was denied because nobody could be asked
  130  cancelled`;

/** What a provider or the server will refuse again, whatever is tried. */
const refusingCodes = new Set([
  "invalid_argument",
  "failed_precondition",
  "permission_denied",
  "not_found",
  "unimplemented",
]);

/** The exit code of an outcome. */
export function exitCodeOf(outcome: RunOutcome): number {
  switch (outcome.kind) {
    case "finished":
      return exitCode.finished;
    case "cancelled":
      return exitCode.cancelled;
    case "lost":
      return exitCode.failed;
    case "failed":
      return refusingCodes.has(outcome.error.code) ? exitCode.refused : exitCode.failed;
    case "refused":
      return outcome.refusal.status === 401 ? exitCode.usage : exitCode.refused;
  }
}

/** What an outcome that is no success means, in lines for a person. */
export function explainOutcome(outcome: RunOutcome, serverUrl: string): string[] {
  switch (outcome.kind) {
    case "finished":
      return [];
    case "cancelled":
      return [`cancelled: ${outcome.why}`];
    case "lost":
      return [`the server at ${serverUrl} was lost: ${outcome.why}`];
    case "failed":
      return [outcome.error.message];
    case "refused":
      return explainRefusal(outcome.refusal, serverUrl);
  }
}

/** Why a server did not take a request, in lines for a person. */
export function explainRefusal(
  refusal: Extract<RunOutcome, { kind: "refused" }>["refusal"],
  serverUrl: string,
): string[] {
  const { status, error, isMismatch } = refusal;
  if (status === 401) {
    return [`the server at ${serverUrl} does not take this key; give another one with --api-key or KEYTURN_API_KEY`];
  }
  if (error.code.startsWith("http_") || isMismatch) {
    return [`what answers at ${serverUrl} does not speak this version of agent.v1: ${error.message}`];
  }
  return [`the server refused: ${error.message}`];
}
