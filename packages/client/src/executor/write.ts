import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WriteArgs, WriteResultSchema } from "@keyturn/protocol/agent";
import { codeOf, isPermission, messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import { type ExecutorContext, namedPath } from "./executor-context.js";
import { limits } from "./limits.js";

type Result = NonNullable<MessageInitShape<typeof WriteResultSchema>["result"]>;

/**
 * Writes a file, with the folders it needs. The file is replaced whole or not at all and keeps its mode; through a link
 * the file behind it is written.
 */
export async function executeWrite(args: WriteArgs, call: Call, context: ExecutorContext): Promise<void> {
  const { absolute: path, real } = await namedPath(context, args.path);
  const answer = (result: Result) => call.answer({ case: "writeResult", value: { result } });
  if (context.ignored.covers(path) || context.ignored.covers(real)) {
    answer({
      case: "permissionDenied",
      value: { path, directory: dirname(path), operation: "write", error: "Blocked by an ignore file" },
    });
    return;
  }
  const isBytes = args.fileBytes.length > 0;
  const input = { file_path: path, ...(isBytes ? {} : { content: args.fileText }) };
  const hook = { toolName: "Write", input, toolCallId: args.toolCallId };
  const reason = await context.gate.refusal({ tool: "write", path, hook });
  if (reason !== null) {
    answer({ case: "rejected", value: { path, reason } });
    return;
  }
  await call.begin();
  const bytes = isBytes ? Buffer.from(args.fileBytes) : Buffer.from(args.fileText, "utf8");
  try {
    await replaceFile(real, bytes);
  } catch (cause) {
    answer(failureOf(path, cause));
    return;
  }
  await context.hooks.after({ ...hook, event: "afterFileEdit" }, { edits: [{ new_string: args.fileText }] });
  const returns = args.returnFileContentAfterWrite && !isBytes && bytes.length <= limits.returnedFileBytes;
  answer({
    case: "success",
    value: {
      path,
      linesCreated: isBytes ? 0 : lineCount(args.fileText),
      fileSize: bytes.length,
      ...(returns ? { fileContentAfterWrite: args.fileText } : {}),
    },
  });
}

/**
 * Puts a file in place of another in one step, with the mode and the owner of the old one. Where the folder forbids that,
 * and for files with several names, the file is written over. Rejects with the system's error.
 */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const stat = await lstat(path).catch(() => null);
  if (stat?.isDirectory()) throw Object.assign(new Error(`EISDIR: ${path} is a directory`), { code: "EISDIR" });
  if (stat && !stat.isFile()) throw new Error(`${path} is not a regular file`);
  if (!stat) await mkdir(dirname(path), { recursive: true });
  // Replacing needs only the folder's leave; a file that is not writable was meant to stay.
  else await (await open(path, "r+")).close();
  if (stat && stat.nlink > 1) return writeFile(path, bytes);
  const temporary = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomUUID().slice(0, 8)}.tmp`);
  try {
    await writeSynced(temporary, bytes, stat);
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    if (!stat || !["EACCES", "EPERM", "EBUSY"].includes(codeOf(cause))) throw cause;
    await writeFile(path, bytes);
  }
}

async function writeSynced(path: string, bytes: Uint8Array, like: Stats | null): Promise<void> {
  const file = await open(path, "wx", like?.mode ?? 0o666);
  try {
    await file.writeFile(bytes);
    // Changing the owner drops some bits of the mode, so the mode comes last.
    if (like) await file.chown(like.uid, like.gid).catch(() => undefined);
    if (like) await file.chmod(like.mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

function failureOf(path: string, cause: unknown): Result {
  const code = codeOf(cause);
  const error = messageOf(cause);
  if (code === "ENOSPC" || code === "EDQUOT") return { case: "noSpace", value: { path } };
  if (!isPermission(code)) return { case: "error", value: { path, error } };
  const isReadonly = code === "EROFS";
  return { case: "permissionDenied", value: { path, directory: dirname(path), operation: "write", error, isReadonly } };
}

function lineCount(text: string): number {
  if (text === "") return 0;
  const lines = text.split("\n").length;
  return text.endsWith("\n") ? lines - 1 : lines;
}
