import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import {
  type ExecClientMessage,
  ExecServerMessageSchema,
  type ShellStream,
  SubagentResultSchema,
} from "@keyturn/protocol/agent";
import { expect, onTestFinished, test } from "vitest";
import { ProjectPolicy } from "../policy/project-policy.js";
import { FileJournal } from "./file-journal.js";
import { ProcessTrees } from "./process-trees.js";
import { isRunning, openExecutor, temporaryFolder, untilText } from "./testing.js";

test("with the project's policy: links do not lead out, and reasons reach the model", async () => {
  const [workspace, outside] = [await temporaryFolder(), await temporaryFolder()];
  const file = join(outside, "policy.json");
  const policy = await ProjectPolicy.open({ workspaces: [workspace], file, scratch: [] });
  const client = await openExecutor({ workspace, policy });
  await writeFile(join(outside, "secret"), "x");
  await symlink(outside, join(workspace, "link"));
  const rejected = { case: "rejected", value: { reason: expect.stringContaining(file) as string } };
  expect(await client.askOnce({ case: "readArgs", value: { path: "link/secret" } })).toMatchObject({
    value: { result: rejected },
  });
  expect(await client.askOnce({ case: "writeArgs", value: { path: "link/new", fileText: "x" } })).toMatchObject({
    value: { result: rejected },
  });
  const [shell] = await client.ask({ case: "shellStreamArgs", value: { command: "sudo ls" } });
  expect(shell).toMatchObject({ value: { event: rejected } });
  const value = { path: "inside.txt", fileText: "x" };
  expect(await client.askOnce({ case: "writeArgs", value })).toMatchObject({ value: { result: { case: "success" } } });
});

test("the last answer is in the journal before it is sent", async () => {
  const journal = await FileJournal.open(await temporaryFolder());
  onTestFinished(() => journal.close());
  const { executor } = await openExecutor({ journal });
  const args = { case: "shellStreamArgs", value: { command: "echo hi" } } as const;
  const message = create(ExecServerMessageSchema, { id: 5, execId: "exec-5", message: args });
  const known: Promise<ExecClientMessage[] | undefined>[] = [];
  const send = ({ message: { value } }: ExecClientMessage): void => {
    if ((value as ShellStream).event.case === "exit") known.push(journal.find("exec-5"));
  };
  await executor.execute({ message, send, signal: new AbortController().signal });
  expect((await known[0])?.at(-1)).toMatchObject({ message: { value: { event: { case: "exit" } } } });
});

test("an MCP server that never answers does not hold up the end", async () => {
  const client = await openExecutor({
    mcpServers: { mute: { command: "/bin/sh", args: ["-c", "echo $$ > pid; exec sleep 1007"] } },
  });
  const file = join(client.workspace, "pid");
  await writeFile(file, "");
  await client.ask({ case: "mcpStateExecArgs", value: { kickOnly: true } });
  const pid = Number(await untilText(file, /\d+\n/));
  expect(await isRunning(pid)).toBe(true);
  await client.executor.close();
  expect(await isRunning(pid)).toBe(false);
});

test("an aborted request ends without an answer and without an error", async () => {
  const client = await openExecutor();
  const begun = client.begin({ case: "grepArgs", value: { pattern: "x", path: "/usr" } });
  begun.abort();
  await begun.done;
  expect(begun.answers).toEqual([]);
});

test("subagents are the session's", async () => {
  const result = create(SubagentResultSchema, { result: { case: "success", value: { agentId: "child" } } });
  const client = await openExecutor({ subagent: () => Promise.resolve(result) });
  const answer = await client.askOnce({ case: "subagentArgs", value: { prompt: "go" } });
  expect(answer).toEqual({ case: "subagentResult", value: result });
});

test("diagnostics are empty", async () => {
  const client = await openExecutor();
  const answer = await client.askOnce({ case: "diagnosticsArgs", value: { path: "a.ts" } });
  const value = { path: join(client.workspace, "a.ts"), diagnostics: [] };
  expect(answer).toMatchObject({ value: { result: { case: "success", value } } });
});

test("at the last moment everything is ended by force, without waiting", async () => {
  const trees = new ProcessTrees();
  onTestFinished(() => trees.close());
  const tree = await trees.start("/bin/sh", ["-c", "trap '' TERM; sleep 1008"], { stdio: "ignore" });
  trees.endNow();
  expect(await tree.exited).toEqual({ code: null, signal: "SIGKILL" });
});
