import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ExecClientMessageSchema } from "@keyturn/protocol/agent";
import { expect, onTestFinished, test } from "vitest";
import { FileJournal } from "./file-journal.js";
import { openExecutor, temporaryFolder } from "./testing.js";

async function openJournal(folder: string): Promise<FileJournal> {
  const journal = await FileJournal.open(folder);
  onTestFinished(() => journal.close());
  return journal;
}

const shell = (command: string) => ({ case: "shellStreamArgs", value: { command } }) as const;

test("an answered execution is answered from the journal, also by the next process", async () => {
  const [workspace, folder] = [await temporaryFolder(), await temporaryFolder()];
  const first = await openExecutor({ workspace, journal: await openJournal(folder) });
  const answers = await first.ask(shell("echo once >> log; echo done"), "exec-1");
  const second = await openExecutor({ workspace, journal: await openJournal(folder) });
  expect(await second.ask(shell("echo once >> log; echo done"), "exec-1")).toEqual(answers);
  expect(await readFile(join(workspace, "log"), "utf8")).toBe("once\n");
});

test("an execution that runs is joined, not started again", async () => {
  const client = await openExecutor({ journal: await openJournal(await temporaryFolder()) });
  const request = shell("echo once >> log; echo done");
  const both = await Promise.all([client.ask(request, "exec-1"), client.ask(request, "exec-1")]);
  expect(both[0]).toEqual(both[1]);
  expect(await readFile(join(client.workspace, "log"), "utf8")).toBe("once\n");
});

test("one that was begun and never answered is not done again", async () => {
  const journal = await openJournal(await temporaryFolder());
  await journal.record("exec-1", []);
  const client = await openExecutor({ journal });
  await expect(client.ask(shell("touch made"), "exec-1")).rejects.toThrow("interrupted");
});

test("a request that never had an effect may be done again", async () => {
  const journal = await openJournal(await temporaryFolder());
  const client = await openExecutor({ journal });
  const nowhere = { case: "shellStreamArgs", value: { command: "true", workingDirectory: "/nowhere" } } as const;
  await expect(client.ask(nowhere, "exec-1")).rejects.toThrow("does not exist");
  await expect(client.ask(nowhere, "exec-1")).rejects.toThrow("does not exist");
  expect(await journal.find("exec-1")).toBeUndefined();
});

test("without an id nothing is kept", async () => {
  const client = await openExecutor({ journal: await openJournal(await temporaryFolder()) });
  await client.ask(shell("echo x >> log"), "");
  await client.ask(shell("echo x >> log"), "");
  expect(await readFile(join(client.workspace, "log"), "utf8")).toBe("x\nx\n");
});

const message = (stdout: string) =>
  create(ExecClientMessageSchema, {
    message: { case: "shellStream", value: { event: { case: "stdout", value: { data: stdout } } } },
  });

test("a line that a crash cut, and rubbish, cost only themselves", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "executions.jsonl");
  await (await openJournal(folder)).record("a", [message("one")]);
  await appendFile(file, 'null\n{"execId":"b","messages":["');
  const again = await openJournal(folder);
  expect(await again.find("a")).toEqual([message("one")]);
  expect(await again.find("b")).toBeUndefined();
  await again.record("c", [message("three")]);
  expect(await (await openJournal(folder)).find("c")).toEqual([message("three")]);
});

test("it stays bounded and keeps the newest", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "executions.jsonl");
  const old = Array.from({ length: 4_100 }, (_, index) => `{"execId":"old-${index}","messages":[]}\n`);
  await writeFile(file, old.join(""));
  const journal = await openJournal(folder);
  await journal.record("new", [message("x")]);
  expect((await readFile(file, "utf8")).trim().split("\n").length).toBe(2_000);
  expect(await journal.find("new")).toEqual([message("x")]);
  expect(await journal.find("old-0")).toBeUndefined();
  await journal.record("newer", []);
  expect(await (await openJournal(folder)).find("newer")).toEqual([]);
});
