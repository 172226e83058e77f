import { stat } from "node:fs/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LsArgs, LsResultSchema } from "@keyturn/protocol/agent";
import { codeOf, isMissing, messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import { type ExecutorContext, namedPath } from "./executor-context.js";
import { limits } from "./limits.js";
import { readTree } from "./tree.js";

type Result = NonNullable<MessageInitShape<typeof LsResultSchema>["result"]>;

/** Lists a folder as a tree: breadth first up to a bound, without what is ignored. */
export async function executeLs(args: LsArgs, call: Call, context: ExecutorContext): Promise<void> {
  const { absolute: path, real } = await namedPath(context, args.path || ".");
  const answer = (result: Result) => call.answer({ case: "lsResult", value: { result } });
  const hook = { toolName: "LS", input: { path }, toolCallId: args.toolCallId };
  const reason = await context.gate.refusal({ tool: "ls", path, hook });
  if (reason !== null) {
    answer({ case: "rejected", value: { path, reason } });
    return;
  }
  try {
    if (!(await stat(real)).isDirectory()) {
      answer({ case: "error", value: { path, error: `${path} is not a directory` } });
      return;
    }
    const deadline = context.now() + (args.timeoutMs || limits.treeTimeoutMs);
    const { root, complete } = await readTree(path, args.ignore, context, () => {
      call.signal.throwIfAborted();
      return context.now() < deadline;
    });
    answer({ case: complete ? "success" : "timeout", value: { directoryTreeRoot: root } });
  } catch (cause) {
    call.signal.throwIfAborted();
    const error = isMissing(codeOf(cause)) ? `ENOENT: ${path} does not exist` : messageOf(cause);
    answer({ case: "error", value: { path, error } });
  }
}
