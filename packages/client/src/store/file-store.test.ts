import { createHash } from "node:crypto";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FileStore } from "./file-store.js";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "keyturn-store-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const bytes = new TextEncoder().encode("a blob");
const id = createHash("sha256").update(bytes).digest();
const conversation = { id: "agent-1", workspace: "/w", title: "t", updatedAt: 1 };

test("a blob is stored under its hash, once, and found by another store", async () => {
  const path = await folder();
  const store = await FileStore.open(path);
  await Promise.all([store.putBlob(id, bytes), store.putBlob(id, bytes)]);
  await expect(store.putBlob(id, new Uint8Array([1]))).rejects.toThrow("another hash");
  const again = await FileStore.open(path);
  expect(new Uint8Array((await again.blob(id)) ?? [])).toEqual(bytes);
  expect(await again.blob(new Uint8Array(32))).toBeUndefined();
  // Ids of other servers are no hashes.
  await again.putBlob(new Uint8Array([1, 2]), bytes);
  expect(await again.blob(new Uint8Array([1, 2]))).toBeDefined();
  await expect(again.putBlob(new Uint8Array(65), bytes)).rejects.toThrow("65 bytes");
  const names = await readdir(join(path, "blobs", id.toString("hex").slice(0, 2)));
  expect(names).toEqual([id.toString("hex")]);
});

test("a damaged blob counts as missing, and can be stored again", async () => {
  const path = await folder();
  const store = await FileStore.open(path);
  await store.putBlob(id, bytes);
  const name = id.toString("hex");
  await writeFile(join(path, "blobs", name.slice(0, 2), name), "a blot");
  expect(await store.blob(id)).toBeUndefined();
  await store.putBlob(id, bytes);
  expect(await store.blob(id)).toBeDefined();
});

test("of a conversation the last whole line counts, whatever a crash left", async () => {
  const path = await folder();
  const file = join(path, "conversations", "agent-1.jsonl");
  const store = await FileStore.open(path);
  await store.saveConversation(conversation);
  await store.saveConversation({ ...conversation, root: "aa" });
  const size = (await stat(file)).size;
  await store.saveConversation({ ...conversation, root: "bb" });
  // Without its line end the last line is still whole.
  for (let cut = (await stat(file)).size - 1, root = "bb"; cut >= size; cut -= 7, root = "aa") {
    await truncate(file, cut);
    expect((await store.conversation("agent-1"))?.root, `cut at ${cut}`).toBe(root);
  }
  await appendFile(file, '{"id":"agent-1","work');
  await store.saveConversation({ ...conversation, root: "cc" });
  expect(await (await FileStore.open(path)).conversation("agent-1")).toEqual({ ...conversation, root: "cc" });
});

test("the file of a conversation does not grow for ever", async () => {
  const path = await folder();
  const store = await FileStore.open(path);
  const title = "x".repeat(10_000);
  for (let count = 0; count < 40; count += 1)
    await store.saveConversation({ ...conversation, title, updatedAt: count });
  const text = await readFile(join(path, "conversations", "agent-1.jsonl"), "utf8");
  expect(text.length).toBeLessThan(300_000);
  expect((await store.conversation("agent-1"))?.updatedAt).toBe(39);
});

test("the newest conversation of a folder, subagents apart; ids are never paths", async () => {
  const path = await folder();
  const store = await FileStore.open(path);
  expect(await store.newestConversation("/w")).toBeUndefined();
  await store.saveConversation(conversation);
  await store.saveConversation({ ...conversation, id: "a:b", workspace: "/other" });
  await store.saveConversation({ ...conversation, id: "agent-sub", subagentType: "helper" });
  expect((await store.newestConversation("/w"))?.id).toBe("agent-1");
  expect((await store.newestConversation("/other"))?.id).toBe("a:b");
  await expect(store.saveConversation({ ...conversation, id: "../x" })).rejects.toThrow("not usable");
  expect(await store.conversation("../../etc/passwd")).toBeUndefined();
});

test("what cannot be written is said, and nothing half is left", async () => {
  const path = await folder();
  const store = await FileStore.open(path);
  const name = id.toString("hex");
  // A folder stands where the file belongs.
  await mkdir(join(path, "blobs", name.slice(0, 2), name, "x"), { recursive: true });
  await expect(store.putBlob(id, bytes)).rejects.toThrow();
  expect(await readdir(join(path, "blobs", name.slice(0, 2)))).toEqual([name]);
});
