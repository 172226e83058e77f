import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type EditResultSchema,
  EditToolCallSchema,
  ReadArgsSchema,
  type ReadResult,
  WriteArgsSchema,
  type WriteResult,
} from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { type Call, fail, run, type Step, type ToolBody } from "./define-tool.js";
import { isSameText, plain } from "./file-text.js";
import { limits } from "./limits.js";
import { type LineDiff, lineDiff } from "./line-diff.js";
import { readRefusal } from "./read.js";
import { fitHead, utf8Length } from "./text.js";
import type { ExecReport } from "./tool.js";

type ResultInit = MessageInitShape<typeof EditResultSchema>["result"];

/** What a hidden read → write → verify sequence is about. */
export interface PlannedWrite {
  readonly path: string;
  /** The content as the client holds it before, null when the file is new or cannot be shown. */
  readonly before: string | null;
  /** Exactly what is written. */
  readonly content: string;
  /** Shown as the write's argument; only Write has it. */
  readonly streamContent?: string;
}

/** The ToolCall of Write and Edit. */
export function editBody(path: string, streamContent?: string, result?: ResultInit): ToolBody {
  const args = { path, ...(streamContent === undefined ? {} : { streamContent }) };
  return {
    case: "editToolCall",
    value: create(EditToolCallSchema, { args, ...(result ? { result: { result } } : {}) }),
  };
}

/** The ToolCall of a Write or Edit that failed. */
export function editError(path: string, message: string, streamContent?: string): ToolBody {
  return editBody(path, streamContent, { case: "error", value: { path, error: message, modelVisibleError: message } });
}

/** The first hidden step. */
export function readFirst(path: string, call: Call): Step {
  return run("read", readRequest(path, call));
}

/** Ends a call whose first read was refused. */
export function refusedRead(
  result: Exclude<ReadResult["result"], { case: "success" }>,
  path: string,
  streamContent?: string,
): Step {
  const text = readRefusal(result, path);
  const at = result.value?.path || path;
  switch (result.case) {
    case "fileNotFound":
      return fail(text, editBody(path, streamContent, { case: "fileNotFound", value: { path: at } }));
    case "permissionDenied":
      return fail(text, editBody(path, streamContent, { case: "readPermissionDenied", value: { path: at } }));
    case "rejected":
      return fail(
        text,
        editBody(path, streamContent, { case: "rejected", value: { path: at, reason: result.value.reason } }),
      );
    default:
      return fail(text, editError(path, text, streamContent));
  }
}

/** The writing step. */
export function writeNext(plan: PlannedWrite, call: Call): Step {
  return run("write", {
    case: "writeArgs",
    value: create(WriteArgsSchema, {
      path: plan.path,
      fileText: plan.content,
      encodingHint: "utf-8",
      returnFileContentAfterWrite: true,
      toolCallId: call.callId,
    }),
  });
}

/**
 * Reads the write's report and, when the client did not return the content, the verifying read's. `say` words the
 * success for the model.
 */
export function settleWrite(
  plan: PlannedWrite,
  call: Call,
  written: ExecReport | undefined,
  verified: ExecReport | undefined,
  say: (diff: LineDiff) => string,
): Step {
  const answer = answerOf(written, "writeResult");
  if (!answer.ok) return fail(`Writing ${plan.path} failed: ${answer.problem}. Read the file before you try again.`);
  const { result } = answer.value;
  if (result.case !== "success") return refusedWrite(result, plan);
  const returned = result.value.fileContentAfterWrite;
  if (returned === undefined && verified === undefined) return run("verify", readRequest(plan.path, call));
  const now = returned ?? contentRead(verified);
  if (now !== null && !isSameText(now, plan.content)) {
    return fail(
      `Write verification failed: ${plan.path} does not hold what was written. Something else changed it (a formatter, a hook, another program). Read it before you edit it again.`,
    );
  }
  const diff = lineDiff(plain(plan.before ?? ""), plain(plan.content));
  const text = say(diff) + (now === null ? " The written content could not be read back." : "");
  const shown = utf8Length(plan.content) + utf8Length(plan.before ?? "") <= limits.shownFileBytes;
  return {
    do: "finish",
    text,
    body: editBody(plan.path, plan.streamContent, {
      case: "success",
      value: {
        path: result.value.path || plan.path,
        linesAdded: diff.added,
        linesRemoved: diff.removed,
        diffString: fitHead(diff.text, limits.shownDiffBytes, "diff").text,
        ...(shown && plan.before !== null ? { beforeFullFileContent: plan.before } : {}),
        afterFullFileContent: shown ? plan.content : "",
        message: text.split("\n", 1)[0] ?? "",
      },
    }),
  };
}

function refusedWrite(result: Exclude<WriteResult["result"], { case: "success" }>, plan: PlannedWrite): Step {
  const { path, streamContent } = plan;
  const shown = (init: ResultInit) => editBody(path, streamContent, init);
  switch (result.case) {
    case "permissionDenied": {
      const { error, isReadonly } = result.value;
      const why = bounded(error || "no reason given");
      return fail(
        `Permission denied: ${path} may not be written (${why}).`,
        shown({ case: "writePermissionDenied", value: { path, error: why, isReadonly } }),
      );
    }
    case "rejected": {
      const reason = bounded(result.value.reason || "no reason given");
      return fail(`Writing ${path} was rejected: ${reason}.`, shown({ case: "rejected", value: { path, reason } }));
    }
    case "noSpace":
      return fail(`Could not write ${path}: no space left on the device.`);
    case "error":
      return fail(`Could not write ${path}: ${bounded(result.value.error || "no reason given")}.`);
    default:
      return fail(`Could not write ${path}: the client gave an empty answer; read the file to see whether it changed.`);
  }
}

/** The content of a verifying read; null when it gave none, which leaves the write a success. */
function contentRead(report: ExecReport | undefined): string | null {
  const answer = answerOf(report, "readResult");
  if (!answer.ok || answer.value.result.case !== "success") return null;
  const { output, truncated } = answer.value.result.value;
  if (truncated || output.case === "data") return null;
  return output.case === "content" ? output.value : null;
}

function readRequest(path: string, call: Call) {
  return { case: "readArgs", value: create(ReadArgsSchema, { path, toolCallId: call.callId }) } as const;
}
