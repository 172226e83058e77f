import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticsArgsSchema,
  type DiagnosticsResult,
  ReadLintsToolCallSchema,
  type ReadLintsToolResultSchema,
} from "@keyturn/protocol/agent";
import { answerOf, bounded } from "./answers.js";
import { defineTool, fail, objectSchema, type Step, type ToolBody } from "./define-tool.js";
import { limits } from "./limits.js";
import { resolvePath } from "./paths.js";
import { cutNotice, fitLines, plural, utf8Length } from "./text.js";
import type { ExecReport } from "./tool.js";

interface Input {
  readonly paths: string[];
}

interface FileFinding {
  readonly path: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly problem?: string;
}

const severities: { readonly [severity in DiagnosticSeverity]: string } = {
  [DiagnosticSeverity.UNSPECIFIED]: "note",
  [DiagnosticSeverity.ERROR]: "error",
  [DiagnosticSeverity.WARNING]: "warning",
  [DiagnosticSeverity.INFORMATION]: "information",
  [DiagnosticSeverity.HINT]: "hint",
};

/** Asks the editor for its diagnostics: one execution a path, merged (W4). */
export const readLintsTool = defineTool<Input>({
  name: "ReadLints",
  describe: () => ({
    description:
      "Read the editor's diagnostics (compiler and linter messages) for files or directories, usually after edits. A client without an editor has none.",
    parameters: objectSchema({
      paths: {
        type: "array",
        items: { type: "string" },
        description: "Files or directories. Default: the workspace.",
      },
    }),
  }),
  decode(reader, context) {
    const paths = reader.texts(["paths", "path"]).map((path) => resolvePath(context.workspace, path));
    const distinct = [...new Set(paths)];
    if (distinct.length > limits.diagnosticsPaths) {
      reader.problems.push(`"paths" must have at most ${limits.diagnosticsPaths} entries`);
    }
    return { paths: distinct.length > 0 ? distinct : [context.workspace ?? ""] };
  },
  arguments: (input) => body(input),
  failure: (input, _call, message) => body(input, { case: "error", value: { errorMessage: message } }),
  begin: (input, call) => ({
    do: "run",
    executions: input.paths.map((path, index) => ({
      key: `path-${index}`,
      args: {
        case: "diagnosticsArgs",
        value: create(DiagnosticsArgsSchema, { path, toolCallId: call.callId }),
      },
    })),
  }),
  proceed: (input, _call, reports) =>
    settle(
      input,
      input.paths.map((path, index) => find(path, reports[index])),
    ),
});

function find(path: string, report: ExecReport | undefined): FileFinding {
  const answer = answerOf(report, "diagnosticsResult");
  if (!answer.ok) return { path, diagnostics: [], problem: answer.problem };
  const { result }: DiagnosticsResult = answer.value;
  switch (result.case) {
    case "success":
      return { path: result.value.path || path, diagnostics: result.value.diagnostics };
    case "fileNotFound":
      return { path, diagnostics: [], problem: "file not found" };
    case "permissionDenied":
      return { path, diagnostics: [], problem: "permission denied" };
    case "rejected":
      return { path, diagnostics: [], problem: `rejected: ${bounded(result.value.reason || "no reason given")}` };
    case "error":
      return { path, diagnostics: [], problem: bounded(result.value.error || "no reason given") };
    default:
      return { path, diagnostics: [], problem: "the client gave an empty answer" };
  }
}

function settle(input: Input, findings: readonly FileFinding[]): Step {
  const failed = findings.filter(({ problem }) => problem !== undefined);
  const problems = failed.map(({ path, problem }) => `${path || "workspace"}: no diagnostics (${problem})`);
  if (failed.length === findings.length) return fail(problems.join("\n"));
  const total = findings.reduce((sum, { diagnostics }) => sum + diagnostics.length, 0);
  const lines = findings.flatMap(({ path, diagnostics }) => diagnostics.map((each) => line(path, each)));
  const kept = fitLines(lines.slice(0, limits.diagnostics), limits.diagnosticsBytes).lines;
  const text = [...kept];
  if (total === 0) text.push("No diagnostics.");
  if (kept.length < lines.length) {
    const bytes = lines.reduce((sum, each) => sum + utf8Length(each) + 1, 0);
    text.push(
      bytes > limits.diagnosticsBytes
        ? cutNotice("ReadLints", limits.diagnosticsBytes, utf8Length(kept.join("\n")), bytes)
        : `[showing ${kept.length} of ${plural(total, "diagnostic")}]`,
    );
  }
  let room = kept.length;
  const fileDiagnostics = findings
    .filter(({ problem }) => problem === undefined)
    .map(({ path, diagnostics }) => {
      const shown = diagnostics.slice(0, room);
      room -= shown.length;
      return { path, diagnostics: shown.map(item), diagnosticsCount: diagnostics.length };
    });
  return {
    do: "finish",
    text: [...text, ...problems].join("\n"),
    body: body(input, {
      case: "success",
      value: { fileDiagnostics, totalFiles: fileDiagnostics.length, totalDiagnostics: total },
    }),
  };
}

/** Positions stand as the client gave them. */
function line(path: string, diagnostic: Diagnostic): string {
  const { range, severity, source, code, isStale } = diagnostic;
  const place = range?.start ? `:${range.start.line}:${range.start.column}` : "";
  const origin = [source, code].filter((each) => each !== "").join(" ");
  const message = bounded(diagnostic.message).replaceAll("\n", "\n    ");
  return `${path}${place} ${severities[severity] ?? "note"}: ${message}${origin === "" ? "" : ` [${origin}]`}${isStale ? " (may be out of date)" : ""}`;
}

function item({ severity, range, message, source, code, isStale }: Diagnostic) {
  const place = range ? { range: { start: range.start, end: range.end } } : {};
  return { severity, message: bounded(message), source, code, isStale, ...place };
}

function body(input: Input, result?: MessageInitShape<typeof ReadLintsToolResultSchema>["result"]): ToolBody {
  return {
    case: "readLintsToolCall",
    value: create(ReadLintsToolCallSchema, { args: input, ...(result ? { result: { result } } : {}) }),
  };
}
