import { type DescMessage, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import {
  DeleteResultSchema,
  DiagnosticSeverity,
  DiagnosticsResultSchema,
  type ExecClientMessageSchema,
  GrepResultSchema,
  GrepUnionResultSchema,
  ListMcpResourcesExecResultSchema,
  LsResultSchema,
  McpResultSchema,
  ReadMcpResourceExecResultSchema,
  ReadResultSchema,
  ShellAbortReason,
  ShellBackgroundReason,
  ShellStreamSchema,
  ToolCallSchema,
  WriteResultSchema,
} from "@keyturn/protocol/agent";
import { describe, expect, test } from "vitest";
import type { Json } from "../run/ids.js";
import { findTool } from "./catalogue.js";
import { answered, contextOf, proceed, resultOf } from "./testing.js";
import type { CapturedOutput, ExecReport, Tool } from "./tool.js";

/*
 * Every kind of execution the tools use × every result variant of the wire tables: what the model reads and what the
 * ToolCall shows. The snapshot is the table; the descriptors prove that no variant is missing from it.
 */

const route = {
  alias: "tiny-echo",
  server: "tiny",
  toolName: "echo",
  clientName: "tiny-echo",
  description: "Echoes.",
  inputSchema: { type: "object" },
};
const context = contextOf({ mcpRoutes: [route] });
const output: CapturedOutput = { stdout: "out\n", stderr: "err\n", interleaved: "out\nerr\n", omittedBytes: 0 };

type Message = NonNullable<MessageInitShape<typeof ExecClientMessageSchema>["message"]>;
type Case<Name> = Extract<Message, { case: Name }>;
type Result<Name> =
  Case<Name> extends { value: infer Value } ? NonNullable<Extract<Value, { result?: unknown }>["result"]> : never;
type Variants<Name> = {
  [Variant in Exclude<NonNullable<Result<Name>["case" & keyof Result<Name>]>, undefined>]: Extract<
    Result<Name>,
    { case: Variant }
  > extends { value: infer Value }
    ? Value | Value[]
    : never;
};

function tool(name: string): Tool {
  const found = findTool(name, context);
  if (!found) throw new Error(`${name} is not offered`);
  return found;
}

function summary(of: Tool, args: Json, reports: readonly ExecReport[]) {
  const { text, isError, toolCall, images } = resultOf(proceed(of, args, reports, context));
  return {
    text,
    isError,
    toolCall: toJson(ToolCallSchema, toolCall),
    ...(images ? { images: images.map(({ mediaType, bytes }) => `${mediaType} ${bytes.length}`) } : {}),
  };
}

/** Checks one exec kind: all variants are listed, and each gives what the snapshot says. */
function table(
  name: string,
  args: Json,
  schema: DescMessage,
  oneof: string,
  variants: { readonly [variant: string]: unknown },
  report: (variant: string, value: unknown) => readonly ExecReport[],
) {
  test(`every variant of ${schema.name} is in the table for ${name}`, () => {
    const wanted = schema.oneofs.find((each) => each.name === oneof)?.fields.map((field) => field.localName);
    expect(new Set(Object.keys(variants))).toEqual(new Set(wanted));
  });
  for (const [variant, values] of Object.entries(variants)) {
    for (const [index, value] of (Array.isArray(values) ? values : [values]).entries()) {
      test(`${name}: ${schema.name}.${variant}${index > 0 ? ` (${index + 1})` : ""}`, () => {
        expect(summary(tool(name), args, report(variant, value))).toMatchSnapshot();
      });
    }
  }
  test(`${name}: an empty ${schema.name} is an error, not a fault`, () => {
    expect(summary(tool(name), args, report("", undefined)).isError).toBe(true);
  });
}

function withResult(messageCase: Message["case"]) {
  return (variant: string, value: unknown) => {
    const result = variant === "" ? {} : { result: { case: variant, value } };
    return [answered({ case: messageCase, value: result } as Message)];
  };
}

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00]);

const readVariants: Variants<"readResult"> = {
  success: [
    { path: "/ws/a.txt", output: { case: "content", value: "one\ntwo\n" }, totalLines: 2, fileSize: 8n },
    { path: "/ws/a.png", output: { case: "data", value: png }, fileSize: 9n },
    { path: "/ws/empty", fileSize: 0n },
  ],
  error: { path: "/ws/a.txt", error: "EIO" },
  rejected: { path: "/ws/a.txt", reason: "blocked by a hook" },
  fileNotFound: { path: "/ws/a.txt" },
  permissionDenied: { path: "/ws/a.txt" },
  invalidFile: { path: "/ws/a.txt", reason: "is a directory" },
};

describe("read_args (I-61)", () => {
  table("Read", { path: "a.txt" }, ReadResultSchema, "result", readVariants, withResult("readResult"));
});

describe("read_args before a write (B.6)", () => {
  const first = withResult("readResult");
  const refusing = { error: 0, rejected: 0, fileNotFound: 0, permissionDenied: 0, invalidFile: 0 };
  const edit = { path: "a.txt", old_string: "one", new_string: "1" };
  for (const variant of Object.keys(refusing) as (keyof typeof refusing)[]) {
    test(`Edit: ReadResult.${variant}`, () => {
      expect(summary(tool("Edit"), edit, first(variant, readVariants[variant]))).toMatchSnapshot();
    });
    if (variant === "fileNotFound") continue;
    test(`Write: ReadResult.${variant}`, () => {
      const args = { path: "a.txt", contents: "new" };
      expect(summary(tool("Write"), args, first(variant, readVariants[variant]))).toMatchSnapshot();
    });
  }
  test("Write: ReadResult.fileNotFound goes on with the write", () => {
    const move = proceed(tool("Write"), { path: "a.txt", contents: "new" }, first("fileNotFound", {}), context);
    expect(move).toMatchObject({ kind: "run", executions: [{ key: "write", args: { value: { fileText: "new" } } }] });
  });
});

describe("write_args (B.6)", () => {
  const before = answered({
    case: "readResult",
    value: { result: { case: "success", value: { output: { case: "content", value: "one\ntwo\n" }, fileSize: 8n } } },
  });
  const variants: Variants<"writeResult"> = {
    success: [
      { path: "/ws/a.txt", linesCreated: 2, fileSize: 6, fileContentAfterWrite: "1\ntwo\n" },
      { path: "/ws/a.txt", linesCreated: 2, fileSize: 6, fileContentAfterWrite: "something else" },
    ],
    permissionDenied: { path: "/ws/a.txt", error: "Blocked by cursor ignore", isReadonly: true },
    noSpace: { path: "/ws/a.txt" },
    error: { path: "/ws/a.txt", error: "EISDIR: is a directory" },
    rejected: { path: "/ws/a.txt", reason: "blocked by a hook" },
  };
  const report = (variant: string, value: unknown) => [before, ...withResult("writeResult")(variant, value)];
  const edit = { path: "a.txt", old_string: "one", new_string: "1" };
  table("Edit", edit, WriteResultSchema, "result", variants, report);
  table("Write", { path: "/ws/a.txt", contents: "1\ntwo\n" }, WriteResultSchema, "result", variants, report);
});

describe("delete_args", () => {
  const variants: Variants<"deleteResult"> = {
    success: { path: "/ws/a.txt", deletedFile: "/ws/a.txt", fileSize: 4n, prevContent: "one\n" },
    fileNotFound: { path: "/ws/a.txt" },
    notFile: { path: "/ws/a.txt", actualType: "directory" },
    permissionDenied: { path: "/ws/a.txt", clientVisibleError: "EACCES", isReadonly: false },
    fileBusy: { path: "/ws/a.txt" },
    rejected: { path: "/ws/a.txt", reason: "blocked by a hook" },
    error: { path: "/ws/a.txt", error: "EIO" },
  };
  table("Delete", { path: "a.txt" }, DeleteResultSchema, "result", variants, withResult("deleteResult"));
});

describe("grep_args", () => {
  const matches = [
    { lineNumber: 3, content: "const x = 1;" },
    { lineNumber: 4, content: "context", isContextLine: true },
  ];
  const unions = {
    content: { matches: [{ file: "./d/x.ts", matches }], totalLines: 2, totalMatchedLines: 1 },
    files: { files: ["./d/x.ts", "./y.ts"], totalFiles: 2, ripgrepTruncated: true },
    count: { counts: [{ file: "./d/x.ts", count: 7 }], totalFiles: 1, totalMatches: 7 },
  };
  const success = Object.entries(unions).map(([name, value]) => ({
    pattern: "x",
    path: "/ws",
    outputMode: name,
    workspaceResults: { "/ws": { result: { case: name, value } } },
  }));
  test("every variant of GrepUnionResult is in the table", () => {
    const wanted = GrepUnionResultSchema.oneofs[0]?.fields.map((field) => field.localName);
    expect(new Set(Object.keys(unions))).toEqual(new Set(wanted));
  });
  const variants = {
    success: [...success, { pattern: "x", workspaceResults: { "/ws": { result: { case: "content", value: {} } } } }],
    error: { error: "regex parse error" },
  };
  table("Grep", { pattern: "x" }, GrepResultSchema, "result", variants, withResult("grepResult"));
  table("Glob", { glob_pattern: "*.ts" }, GrepResultSchema, "result", variants, withResult("grepResult"));
});

describe("ls_args", () => {
  const directoryTreeRoot = {
    absPath: "/ws",
    childrenWereProcessed: true,
    childrenFiles: [{ name: "a.txt" }],
    childrenDirs: [
      { absPath: "/ws/src", childrenWereProcessed: true, childrenFiles: [{ name: "b.ts" }] },
      { absPath: "/ws/node_modules", numFiles: 900, fullSubtreeExtensionCounts: { ".js": 800, ".md": 100 } },
    ],
  };
  const variants: Variants<"lsResult"> = {
    success: { directoryTreeRoot },
    error: { path: "/ws", error: "ENOENT: no such file or directory" },
    rejected: { path: "/ws", reason: "blocked by a hook" },
    timeout: { directoryTreeRoot: { absPath: "/ws", childrenFiles: [{ name: "a.txt" }] } },
  };
  table("Ls", { path: "." }, LsResultSchema, "result", variants, withResult("lsResult"));
});

describe("diagnostics_args (W4)", () => {
  const found = {
    severity: DiagnosticSeverity.ERROR,
    range: { start: { line: 3, column: 5 }, end: { line: 3, column: 9 } },
    message: "Cannot find name 'x'.",
    source: "ts",
    code: "2304",
  };
  const variants: Variants<"diagnosticsResult"> = {
    success: { path: "/ws/a.ts", diagnostics: [found], totalDiagnostics: 1 },
    error: { path: "/ws/a.ts", error: "no editor" },
    rejected: { path: "/ws/a.ts", reason: "blocked by a hook" },
    fileNotFound: { path: "/ws/a.ts" },
    permissionDenied: { path: "/ws/a.ts" },
  };
  const report = withResult("diagnosticsResult");
  table("ReadLints", { paths: ["a.ts"] }, DiagnosticsResultSchema, "result", variants, report);
  test("two paths, one of which fails, give one merged answer", () => {
    const reports = [...report("success", variants.success), ...report("fileNotFound", {})];
    expect(summary(tool("ReadLints"), { paths: ["a.ts", "b.ts"] }, reports)).toMatchSnapshot();
  });
});

describe("mcp_args (W13, I-68)", () => {
  const variants: Variants<"mcpResult"> = {
    success: [
      {
        content: [
          { content: { case: "text", value: { text: "hello" } } },
          { content: { case: "image", value: { data: png, mimeType: "image/png" } } },
        ],
      },
      { content: [], structuredContent: { answer: 42 } },
      { content: [{ content: { case: "text", value: { text: "it broke" } } }], isError: true },
    ],
    error: { error: "the tool threw" },
    rejected: { reason: "not approved", isReadonly: false },
    permissionDenied: { error: "denied by a hook", isReadonly: false },
    toolNotFound: { name: "tiny-echo", availableTools: ["tiny-add", "tiny-sub"] },
    serverNotFound: { name: "tiny", availableServers: ["other"] },
    approved: {},
  };
  table("tiny-echo", { text: "hello", n: 1 }, McpResultSchema, "result", variants, withResult("mcpResult"));
});

describe("list_mcp_resources_exec_args", () => {
  const resources = [{ uri: "file:///a", name: "a", mimeType: "text/plain", server: "tiny", description: "An a." }];
  const variants: Variants<"listMcpResourcesExecResult"> = {
    success: [{ resources }, { resources: [] }],
    error: { error: "server gone" },
    rejected: { reason: "not approved" },
  };
  const report = withResult("listMcpResourcesExecResult");
  table("ListMcpResources", {}, ListMcpResourcesExecResultSchema, "result", variants, report);
});

describe("read_mcp_resource_exec_args", () => {
  const variants: Variants<"readMcpResourceExecResult"> = {
    success: [
      { uri: "file:///a", mimeType: "text/plain", content: { case: "text", value: "hello" } },
      { uri: "file:///a", content: { case: "blob", value: png } },
      { uri: "file:///a", content: { case: "blob", value: new Uint8Array([0x50, 0x4b, 3, 4, 0]) } },
      { uri: "file:///a", downloadPath: "/ws/a" },
    ],
    error: { uri: "file:///a", error: "server gone" },
    rejected: { uri: "file:///a", reason: "not approved" },
    notFound: { uri: "file:///a" },
  };
  const args = { server: "tiny", uri: "file:///a" };
  const report = withResult("readMcpResourceExecResult");
  table("FetchMcpResource", args, ReadMcpResourceExecResultSchema, "result", variants, report);
});

describe("shell_stream_args (B.10)", () => {
  const place = { command: "make", workingDirectory: "/ws" };
  const terminal = {
    exit: [
      { code: 0, cwd: "/ws", localExecutionTimeMs: 12 },
      { code: 2, cwd: "/ws/sub", outputLocation: { filePath: "/p/agent-tools/1.txt", sizeBytes: 90n, lineCount: 3n } },
      { cwd: "/ws", aborted: true, abortReason: ShellAbortReason.TIMEOUT },
      { cwd: "/ws", aborted: true, abortReason: ShellAbortReason.USER_ABORT },
    ],
    backgrounded: { ...place, shellId: 3, pid: 77, msToWait: 1_000, reason: ShellBackgroundReason.USER_REQUEST },
    rejected: { ...place, reason: "not approved", isReadonly: false },
    permissionDenied: { ...place, error: "denied", isReadonly: false },
    sandboxUnsupported: { ...place, sandboxPolicyType: "TYPE_WORKSPACE_READWRITE", reason: "no kernel support" },
  };
  // These never come as the end of an execution; if the core gave one, the call still ends in words.
  const open = { stdout: { data: "x" }, stderr: { data: "x" }, start: {}, hookContext: {} };
  const shell = (variant: string, value: unknown) => {
    const event = variant === "" ? {} : { event: { case: variant, value } };
    return [answered({ case: "shellStream", value: event } as Message, output)];
  };
  table("Shell", { command: "make" }, ShellStreamSchema, "event", { ...terminal, ...open }, shell);

  test.each(Object.keys({ ...terminal, ...open }))("%s ends the stream only when it should", (variant) => {
    const [report] = shell(variant, {});
    if (report?.outcome.how !== "answered") throw new Error("not an answer");
    expect(tool("Shell").isTerminal?.(report.outcome.message)).toBe(variant in terminal);
  });
});
