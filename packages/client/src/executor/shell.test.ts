import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ShellAbortReason, ShellBackgroundReason, TimeoutBehavior } from "@keyturn/protocol/agent";
import { describe, expect, test } from "vitest";
import type { ExecutorOptions } from "./executor.js";
import { type AnswerMessage, isRunning, openExecutor, type TestExecutor, untilText } from "./testing.js";

type ShellInit = { command: string } & { [name: string]: unknown };

async function stream(client: TestExecutor, value: ShellInit) {
  const answers = await client.ask({ case: "shellStreamArgs", value });
  return summary(answers);
}

function summary(answers: readonly AnswerMessage[]) {
  const events = answers.map((answer) => (answer.case === "shellStream" ? answer.value.event : undefined));
  const text = (kind: "stdout" | "stderr") =>
    events.map((event) => (event?.case === kind ? event.value.data : "")).join("");
  const last = events.at(-1);
  return { kinds: events.map((event) => event?.case), stdout: text("stdout"), stderr: text("stderr"), last };
}

const isStdout = (message: AnswerMessage) => message.case === "shellStream" && message.value.event.case === "stdout";

/** The number that a command printed: the process it left. */
async function printedPid(begun: ReturnType<TestExecutor["begin"]>): Promise<number> {
  const answer = await begun.until(isStdout);
  if (answer.case !== "shellStream" || answer.value.event.case !== "stdout") throw new Error("no output");
  return Number(answer.value.event.value.data.trim());
}

describe("stream", () => {
  test("start, output of both kinds, exit with code and directory", async () => {
    const client = await openExecutor();
    await mkdir(join(client.workspace, "sub"));
    const { kinds, stdout, stderr, last } = await stream(client, {
      command: "echo out; echo err >&2; cd sub; (exit 3)",
    });
    expect(kinds[0]).toBe("start");
    expect([stdout, stderr]).toEqual(["out\n", "err\n"]);
    expect(last).toMatchObject({
      case: "exit",
      value: { code: 3, aborted: false, cwd: join(client.workspace, "sub") },
    });
  });

  test("characters are never parted", async () => {
    const client = await openExecutor();
    const command = "printf '\\344\\275'; sleep 0.05; printf '\\240\\345\\245\\275\\n'";
    const { stdout } = await stream(client, { command });
    expect(stdout).toBe("你好\n");
  });

  test("directory, variables and functions carry over when no directory is named", async () => {
    const client = await openExecutor();
    await mkdir(join(client.workspace, "sub"));
    await stream(client, { command: "cd sub; export COLOUR=red; greet() { echo hello; }" });
    expect((await stream(client, { command: 'pwd; echo "$COLOUR"; greet' })).stdout).toBe(
      `${join(client.workspace, "sub")}\nred\nhello\n`,
    );
    expect((await stream(client, { command: 'echo "[$COLOUR]"', workingDirectory: client.workspace })).stdout).toBe(
      "[]\n",
    );
  });

  test("the environment marks an agent and hides the server's key", async () => {
    const environment = { ...process.env, KEYTURN_API_KEY: "secret" };
    const client = await openExecutor({ environment });
    const command = 'echo "$CURSOR_AGENT $KEYTURN_AGENT $TERM [$KEYTURN_API_KEY]"';
    expect((await stream(client, { command })).stdout).toBe("1 1 dumb []\n");
  });

  test("a directory that does not exist fails in words, and the client lives", async () => {
    const client = await openExecutor();
    await expect(stream(client, { command: "true", workingDirectory: "/nowhere/at/all" })).rejects.toThrow(
      "The working directory /nowhere/at/all does not exist.",
    );
    expect((await stream(client, { command: "echo alive" })).stdout).toBe("alive\n");
  });

  test("closed input ends who reads it", async () => {
    const client = await openExecutor();
    expect((await stream(client, { command: "cat", closeStdin: true })).last).toMatchObject({ value: { code: 0 } });
  });

  test("a process left in the background does not keep the command from ending, and ends with the executor", async () => {
    const client = await openExecutor();
    const { stdout, last } = await stream(client, { command: "sleep 1000 & echo $!" });
    expect(last).toMatchObject({ case: "exit", value: { code: 0 } });
    expect(await isRunning(Number(stdout))).toBe(true);
    await client.executor.close();
    expect(await isRunning(Number(stdout))).toBe(false);
  });

  test("an abort ends the whole tree, also what ignores the polite signal or left the group", async () => {
    const client = await openExecutor();
    const command = `trap '' TERM; setsid sleep 1001 & echo $!; while :; do sleep 0.1; done`;
    const begun = client.begin({ case: "shellStreamArgs", value: { command, timeout: 60_000 } });
    const pid = await printedPid(begun);
    begun.abort();
    await begun.done;
    const { last } = summary(begun.answers);
    expect(last).toMatchObject({ value: { aborted: true, abortReason: ShellAbortReason.USER_ABORT, code: 137 } });
    expect(await isRunning(pid)).toBe(false);
  });

  test("a timeout cancels", async () => {
    const client = await openExecutor();
    const { last } = await stream(client, { command: "sleep 1002", timeout: 200 });
    expect(last).toMatchObject({ value: { aborted: true, abortReason: ShellAbortReason.TIMEOUT, code: 143 } });
  });

  test("or sends to the background, where it goes on into a file that can be written to", async () => {
    const client = await openExecutor();
    const command = 'echo before; read line; echo "got $line"';
    const timeoutBehavior = TimeoutBehavior.BACKGROUND;
    const { stdout, last } = await stream(client, { command, timeout: 200, timeoutBehavior });
    expect(stdout).toBe("before\n");
    if (last?.case !== "backgrounded") throw new Error(String(last?.case));
    expect(last.value).toMatchObject({ command, msToWait: 200, reason: ShellBackgroundReason.TIMEOUT });
    const typed = await client.askOnce({
      case: "writeShellStdinArgs",
      value: { shellId: last.value.shellId, chars: "hi\n" },
    });
    expect(typed).toMatchObject({ value: { result: { case: "success", value: { shellId: last.value.shellId } } } });
    const file = await terminal(client, last.value.shellId);
    expect(file).toMatch(
      /^---\npid: \d+\ncwd: ".*"\ncommand: .*\nstarted_at: .*\nrunning_for_ms: \d+ *\n---\nbefore\n\[stdin\] hi\n/,
    );
    expect(file).toContain("got hi\n");
    expect(file).toContain("exit_code: 0\n");
  });

  test("the hard timeout ends it there", async () => {
    const client = await openExecutor();
    const value = {
      command: "sleep 1003",
      timeout: 100,
      hardTimeout: 300,
      timeoutBehavior: TimeoutBehavior.BACKGROUND,
    };
    const { last } = await stream(client, value);
    if (last?.case !== "backgrounded") throw new Error(String(last?.case));
    expect(await terminal(client, last.value.shellId)).toContain("signal: SIGTERM");
  });

  test("the user can send it to the background", async () => {
    const client = await openExecutor();
    const value = { command: "echo here; sleep 1004", toolCallId: "call-1", timeout: 60_000 };
    const begun = client.begin({ case: "shellStreamArgs", value });
    await begun.until(isStdout);
    const forced = await client.askOnce({ case: "forceBackgroundShellArgs", value: { toolCallId: "call-1" } });
    await begun.done;
    const { last } = summary(begun.answers);
    expect(last).toMatchObject({ case: "backgrounded", value: { reason: ShellBackgroundReason.USER_REQUEST } });
    const success = { case: "success", value: { interleavedOutput: "here\n" } };
    expect(forced).toMatchObject({ value: { status: 1, shellResult: { result: success } } });
    const unknown = await client.askOnce({ case: "forceBackgroundShellArgs", value: { toolCallId: "call-9" } });
    expect(unknown).toMatchObject({ value: { status: 2 } });
  });

  test("output over the threshold is in a file as well; endless output stays bounded", async () => {
    const client = await openExecutor();
    const command = "seq 1 20000";
    const { stdout, last } = await stream(client, { command, fileOutputThresholdBytes: 1000n });
    expect(stdout.split("\n").length).toBe(20_001);
    if (last?.case !== "exit") throw new Error(String(last?.case));
    const { filePath = "", lineCount, sizeBytes } = last.value.outputLocation ?? {};
    expect(filePath.startsWith(join(client.dataFolder, "agent-tools"))).toBe(true);
    expect(lineCount).toBe(20_000n);
    expect(await readFile(filePath, "utf8")).toBe(stdout);
    expect(sizeBytes).toBe(BigInt(stdout.length));
    const endless = await stream(client, { command: "yes | head -c 30000000; echo end" });
    expect(endless.stdout.length).toBeLessThan(5_000_000);
    expect(endless.stdout.endsWith("end\n")).toBe(true);
    expect(endless.stdout).toContain("characters left out");
    // The file can be read with the read tool whatever the policy says of paths outside.
    const policy: ExecutorOptions["policy"] = { decide: () => Promise.resolve({ allow: false, reason: "no" }) };
    const strict = await openExecutor({ policy, workspace: client.workspace, dataFolder: client.dataFolder });
    const read = await strict.askOnce({ case: "readArgs", value: { path: filePath, limit: 1 } });
    expect(read).toMatchObject({ value: { result: { case: "success" } } });
  });

  test("a refused command is not run", async () => {
    const policy: ExecutorOptions["policy"] = { decide: () => Promise.resolve({ allow: false, reason: "no" }) };
    const client = await openExecutor({ policy });
    const { kinds, last } = await stream(client, { command: "touch made" });
    expect(kinds).toEqual(["rejected"]);
    expect(last).toMatchObject({ value: { command: "touch made", workingDirectory: client.workspace, reason: "no" } });
    expect(await readdir(client.workspace)).toEqual([]);
  });

  test("is_background: start, then backgrounded at once", async () => {
    const client = await openExecutor();
    const { kinds } = await stream(client, { command: "sleep 1005", isBackground: true });
    expect(kinds).toEqual(["start", "backgrounded"]);
  });
});

describe("answered at the end", () => {
  const shell = async (client: TestExecutor, value: ShellInit) => {
    const answer = await client.askOnce({ case: "shellArgs", value });
    if (answer.case !== "shellResult") throw new Error(String(answer.case));
    return answer.value.result;
  };

  test("success, failure, signal, timeout, no directory", async () => {
    const client = await openExecutor();
    expect(await shell(client, { command: "echo a; echo b >&2" })).toMatchObject({
      case: "success",
      value: { exitCode: 0, stdout: "a\n", stderr: "b\n" },
    });
    expect(await shell(client, { command: "exit 7" })).toMatchObject({ case: "failure", value: { exitCode: 7 } });
    expect(await shell(client, { command: "kill -9 $$" })).toMatchObject({
      value: { exitCode: -1, signal: "SIGKILL" },
    });
    expect(await shell(client, { command: "sleep 1006", timeout: 100 })).toMatchObject({
      case: "failure",
      value: { exitCode: -1, signal: "SIGTERM", aborted: true, abortReason: ShellAbortReason.TIMEOUT },
    });
    const nowhere = { command: "true", workingDirectory: "nowhere" };
    expect(await shell(client, nowhere)).toMatchObject({ case: "spawnError" });
    await writeFile(join(client.workspace, "file"), "");
    expect(await shell(client, { ...nowhere, workingDirectory: "file" })).toMatchObject({
      value: { error: expect.stringContaining("is not a directory") as string },
    });
  });
});

describe("background", () => {
  test("spawns, records, takes input, ends with the executor; ids go on after a restart", async () => {
    const client = await openExecutor();
    const spawn = async (on: TestExecutor) => {
      const value = { command: "echo up; exec cat" };
      const answer = await on.askOnce({ case: "backgroundShellSpawnArgs", value });
      if (answer.case !== "backgroundShellSpawnResult" || answer.value.result.case !== "success")
        throw new Error("failed");
      return answer.value.result.value;
    };
    const { shellId, pid = 0, workingDirectory } = await spawn(client);
    expect(workingDirectory).toBe(client.workspace);
    await terminal(client, shellId, /up\n/);
    expect(await isRunning(pid)).toBe(true);
    await client.executor.close();
    expect(await isRunning(pid)).toBe(false);
    expect(await terminal(client, shellId)).toContain("up\n");
    const next = await openExecutor({ workspace: client.workspace, dataFolder: client.dataFolder });
    expect((await spawn(next)).shellId).toBe(shellId + 1);
    const missing = await next.askOnce({ case: "writeShellStdinArgs", value: { shellId: 999, chars: "x" } });
    expect(missing).toMatchObject({ value: { result: { case: "error", value: { error: "Shell not found: 999" } } } });
  });
});

test("a case without a handler fails in the words that servers know", async () => {
  const client = await openExecutor();
  const words = (kind: string) => `No handler found for server message of type ${kind}`;
  await expect(client.ask({ case: "recordScreenArgs", value: {} })).rejects.toThrow(words("recordScreenArgs"));
  await expect(client.ask({ case: "subagentArgs", value: {} })).rejects.toThrow(words("subagentArgs"));
});

async function terminal(client: TestExecutor, shellId: number, pattern = /\nended_at: /): Promise<string> {
  return untilText(join(client.dataFolder, "terminals", `${shellId}.txt`), pattern);
}
