import type { DiagnosticsArgs } from "@keyturn/protocol/agent";
import type { Call } from "./execution.js";
import { type ExecutorContext, namedPath } from "./executor-context.js";

/** Reports no findings: this client has no language server. */
export async function executeDiagnostics(args: DiagnosticsArgs, call: Call, context: ExecutorContext): Promise<void> {
  const { absolute: path } = await namedPath(context, args.path);
  call.answer({ case: "diagnosticsResult", value: { result: { case: "success", value: { path } } } });
}
