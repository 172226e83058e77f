import { lstat, readFile, unlink } from "node:fs/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeleteArgs, DeleteResultSchema } from "@keyturn/protocol/agent";
import { codeOf, isMissing, isPermission, messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import { type ExecutorContext, namedPath } from "./executor-context.js";
import { fileKindOf } from "./file-kind.js";
import { limits } from "./limits.js";

type Result = NonNullable<MessageInitShape<typeof DeleteResultSchema>["result"]>;

/** Deletes one file and returns its text, so that it can be restored. A link is deleted itself, not what it points to. */
export async function executeDelete(args: DeleteArgs, call: Call, context: ExecutorContext): Promise<void> {
  const { absolute: path } = await namedPath(context, args.path);
  const answer = (result: Result) => call.answer({ case: "deleteResult", value: { result } });
  if (context.ignored.covers(path)) {
    answer({ case: "permissionDenied", value: { path, clientVisibleError: "Blocked by an ignore file" } });
    return;
  }
  const hook = { toolName: "Delete", input: { file_path: path }, toolCallId: args.toolCallId };
  const reason = await context.gate.refusal({ tool: "delete", path, hook });
  if (reason !== null) {
    answer({ case: "rejected", value: { path, reason } });
    return;
  }
  answer(await remove(path, call));
}

async function remove(path: string, call: Call): Promise<Result> {
  try {
    const stat = await lstat(path);
    if (stat.isDirectory()) return { case: "notFile", value: { path, actualType: "directory" } };
    const isSmall = stat.isFile() && stat.size <= limits.returnedFileBytes;
    const bytes = isSmall ? await readFile(path).catch(() => Buffer.alloc(0)) : Buffer.alloc(0);
    const prevContent = fileKindOf(bytes.subarray(0, 8192)) === "text" ? bytes.toString("utf8") : "";
    await call.begin();
    await unlink(path);
    return { case: "success", value: { path, deletedFile: path, fileSize: BigInt(stat.size), prevContent } };
  } catch (cause) {
    const code = codeOf(cause);
    if (isMissing(code)) return { case: "fileNotFound", value: { path } };
    if (code === "EBUSY" || code === "ETXTBSY") return { case: "fileBusy", value: { path } };
    if (isPermission(code)) return { case: "permissionDenied", value: { path, clientVisibleError: messageOf(cause) } };
    return { case: "error", value: { path, error: messageOf(cause) } };
  }
}
