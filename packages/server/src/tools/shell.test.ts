import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shellTool } from "./shell.js";
import { parseCommand } from "./shell-parsing.js";
import { answered, begin, contextOf, proceed, resultOf } from "./testing.js";
import { utf8Length } from "./text.js";
import type { CapturedOutput, ExecReport, Move } from "./tool.js";

function shellArgs(move: Move) {
  const args = move.kind === "run" ? move.executions[0]?.args : undefined;
  if (args?.case !== "shellStreamArgs") throw new Error("no shell is started");
  return args.value;
}

const listed = answered({ case: "lsResult", value: { result: { case: "success", value: {} } } });
const exit = { case: "shellStream", value: { event: { case: "exit", value: { code: 0, cwd: "/ws" } } } } as const;
const captured = (text: string, more: Partial<CapturedOutput> = {}): CapturedOutput => {
  return { stdout: text, stderr: "", interleaved: text, omittedBytes: 0, ...more };
};

describe("Shell", () => {
  test("P6, P7, P22: always an absolute directory, a parsing result and a timeout; never skip_approval", () => {
    const args = shellArgs(begin(shellTool, { command: "npm test", description: "Run the tests" }));
    expect(args).toMatchObject({
      command: "npm test",
      workingDirectory: "/ws",
      timeout: 120_000,
      hardTimeout: 130_000,
      timeoutBehavior: 1,
      closeStdin: true,
      isBackground: false,
      skipApproval: false,
      description: "Run the tests",
      toolCallId: "call-1",
      parsingResult: {
        parsingFailed: false,
        executableCommands: [{ name: "npm", args: [{ type: "word", value: "test" }] }],
      },
    });
  });

  test.each([
    [{ timeout_ms: 5_000 }, 5_000],
    [{ block_until_ms: "7000" }, 7_000],
    [{ block_until_ms: 0 }, 120_000],
    [{ timeout_ms: -1 }, 120_000],
    [{ timeout_ms: 999_999_999 }, 3_600_000],
  ])("%j waits %d ms", (more, timeout) => {
    expect(shellArgs(begin(shellTool, { command: "x", ...more }))).toMatchObject({ timeout });
  });

  test("P7: another directory is looked at before the command runs", () => {
    const args = { command: "ls", working_directory: "sub" };
    expect(begin(shellTool, args)).toMatchObject({
      executions: [{ key: "directory", args: { case: "lsArgs", value: { path: "/ws/sub" } } }],
    });
    expect(shellArgs(proceed(shellTool, args, [listed]))).toMatchObject({ workingDirectory: "/ws/sub" });
    expect(resultOf(proceed(shellTool, args, [listed, answered(exit)]))).toMatchObject({ isError: false });
  });

  test("P7: a directory that does not exist runs nothing", () => {
    const missing = answered({
      case: "lsResult",
      value: { result: { case: "error", value: { path: "/ws/sub", error: "ENOENT" } } },
    });
    const silent: ExecReport = { outcome: { key: "directory", how: "silent" } };
    for (const report of [missing, silent]) {
      const result = resultOf(proceed(shellTool, { command: "ls", working_directory: "sub" }, [report]));
      expect(result).toMatchObject({ isError: true, text: expect.stringContaining("/ws/sub is not usable") });
      expect(result.toolCall.tool.value).toMatchObject({ result: { result: { case: "spawnError" } } });
    }
  });

  test("the workspace itself needs no look, in any spelling; without a workspace a relative directory is refused", () => {
    expect(shellArgs(begin(shellTool, { command: "x", working_directory: "/ws/" }))).toMatchObject({
      workingDirectory: "/ws/",
    });
    const nowhere = contextOf({ workspace: null, workspaces: [] });
    expect(resultOf(begin(shellTool, { command: "x", working_directory: "sub" }, nowhere)).text).toContain(
      "absolute path",
    );
    const windows = contextOf({ workspace: "C:\\ws" });
    expect(shellArgs(begin(shellTool, { command: "dir", cwd: "c:/ws" }, windows))).toMatchObject({
      parsingResult: { parsingFailed: true },
    });
  });

  test.each([{}, { command: "  " }, { command: 7 }, { command: "a\0b" }])("%j runs nothing", (args) => {
    expect(resultOf(begin(shellTool, args))).toMatchObject({ isError: true });
  });

  test("I-59: output keeps head and tail, colours are gone, and the cut is said", () => {
    const long = `first\n${"\u001b[32mx\u001b[0m".repeat(60_000)}\nlast`;
    const { text } = resultOf(
      proceed(shellTool, { command: "x" }, [answered(exit, captured(long, { omittedBytes: 99 }))]),
    );
    expect(utf8Length(text)).toBeLessThan(33_000);
    expect(text).toMatch(
      /^first\nx+\n\[truncated: Shell result exceeded 32768 bytes; showing 32768 of 60011 bytes\]\nx+\nlast\n/,
    );
    expect(text).toContain("[truncated: 99 bytes of output left out in the middle]\n[exit code 0]");
  });

  test("no output is said", () => {
    expect(resultOf(proceed(shellTool, { command: "x" }, [answered(exit)])).text).toBe("[no output]\n[exit code 0]");
  });

  test("an aborted stream keeps its output and is a failure", () => {
    const report: ExecReport = { outcome: { key: "shell", how: "aborted" }, output: captured("half") };
    const result = resultOf(proceed(shellTool, { command: "x" }, [report]));
    expect(result.text).toContain("half\n[no exit code: canceled");
    expect(result.toolCall.tool.value).toMatchObject({
      result: { result: { case: "failure", value: { aborted: true, stdout: "half" } } },
    });
  });
});

describe("command splitting", () => {
  const names = (command: string) => parseCommand(command, false).executableCommands?.map(({ name }) => name) ?? null;

  test.each([
    ["ls", ["ls"]],
    ["cd src && npm test -- --run 'a b' | tee out.txt; echo done", ["cd", "npm", "tee", "echo"]],
    ["FOO=1 make -j\\\n 4", ["make"]],
    ["git log # a comment; rm x\nls", ["git", "ls"]],
    ['echo "a; rm $HOME ${USER}" &', ["echo"]],
    ["cat < in > out 2>&1", ["cat"]],
    ["grep -rn 'a|b' . || true", ["grep", "true"]],
  ])("%j runs %j", (command, expected) => expect(names(command)).toEqual(expected));

  test.each([
    "echo $(rm x)",
    "echo `rm x`",
    'echo "$(rm x)"',
    'echo "${x:-$(rm x)}"',
    "diff <(a) <(b)",
    "(cd x; ls)",
    "{ ls; }",
    "if true; then rm x; fi",
    "for f in *; do rm $f; done",
    "cat <<EOF\nx\nEOF",
    "$CMD x",
    "~/bin/x",
    "r''m x",
    "echo 'open",
    'echo "open',
    "ls &&",
    "; ls",
    "ls ;; ls",
    "eval rm x",
    "echo $'a'",
    "> out",
    "A=1",
    "ls >",
    "",
  ])("%j is in doubt", (command) => expect(parseCommand(command, false)).toEqual({ parsingFailed: true }));

  test("redirects are told, and whether they only silence", () => {
    expect(parseCommand("a >/dev/null 2>&1", false)).toMatchObject({
      hasRedirects: true,
      allRedirectsAreDevNull: true,
    });
    expect(parseCommand("a > 1", false)).toMatchObject({
      allRedirectsAreDevNull: false,
      redirects: [{ operator: ">", targetNodeType: "word", targetText: "1" }],
    });
  });

  test("never throws, and either lists commands or says that it failed", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab '\"\\$(){}<>|&;\n#`=2 ") }), (command) => {
        const parsed = parseCommand(command, false);
        expect(parsed.parsingFailed).toBe(parsed.executableCommands === undefined);
        for (const each of parsed.executableCommands ?? []) expect(command).toContain(each.fullText);
      }),
      { numRuns: 2_000 },
    );
  });
});
