import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { CustomSubagentPermissionMode, RequestContextArgsSchema } from "@keyturn/protocol/agent";
import { expect, onTestFinished, test } from "vitest";
import type { ExecutorOptions } from "./executor.js";
import { frontMatterOf, listField } from "./front-matter.js";
import { openExecutor, type TestExecutor, temporaryFolder } from "./testing.js";

async function fill(root: string, files: { [name: string]: string }): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
}

const contextOf = (client: TestExecutor) => client.executor.requestContext(create(RequestContextArgsSchema));

test("the context tells the machine and the repositories, without secrets", async () => {
  const client = await openExecutor();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: client.workspace });
  git("init", "-q", "-b", "main");
  git("remote", "add", "origin", "https://user:token@example.org/a/b.git");
  await fill(client.workspace, { "new.txt": "x" });
  const context = await contextOf(client);
  expect(context.env).toMatchObject({
    workspacePaths: [client.workspace],
    shell: "bash",
    projectFolder: client.dataFolder,
    terminalsFolder: join(client.dataFolder, "terminals"),
  });
  expect(context.gitRepos).toMatchObject([
    {
      path: client.workspace,
      branchName: "main",
      remoteUrl: "https://example.org/a/b.git",
      status: expect.stringContaining("?? new.txt") as string,
    },
  ]);
  const answer = await client.askOnce({ case: "requestContextArgs", value: {} });
  expect(answer).toMatchObject({ value: { result: { case: "success" } } });
});

const files = {
  "AGENTS.md": "be kind",
  "sub/AGENTS.md": "be kinder",
  "CLAUDE.md": "be quick",
  ".cursorrules": "be brief",
  ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nalways this",
  ".cursor/rules/typescript.mdc":
    "---\ndescription: for types\nglobs: *.ts,src/**/*.{ts,tsx}\nalwaysApply: false\n---\nuse types",
  ".cursor/rules/nested/wanted.mdc": "---\ndescription: when wanted\n---\nbody",
  ".cursor/rules/manual.mdc": "---\n---\nby hand",
  ".cursor/skills/release/SKILL.md": "---\nname: release\ndescription: makes a release\n---\nsteps",
  ".cursor/agents/helper.md": "---\nname: helper\ndescription: helps\nreadonly: true\n---\nYou help.",
  ".keyturn/agents/other.md": "You are other.",
};

test("rules, skills and subagents of the project are told when its settings are used, and only then", async () => {
  const workspace = await temporaryFolder();
  await fill(workspace, files);
  const secret = join(await temporaryFolder(), "secret.md");
  await writeFile(secret, "private");
  await symlink(secret, join(workspace, ".cursor/rules/escape.mdc"));
  const context = await contextOf(await openExecutor({ workspace, settings: "project" }));
  const rules = context.rules.map((rule) => {
    return [rule.fullPath.slice(workspace.length + 1), rule.type?.type.case, rule.content.trim()];
  });
  expect(rules).toEqual([
    [".cursor/rules/always.mdc", "global", "always this"],
    [".cursor/rules/manual.mdc", "manuallyAttached", "by hand"],
    [".cursor/rules/nested/wanted.mdc", "agentFetched", "body"],
    [".cursor/rules/typescript.mdc", "fileGlobbed", "use types"],
    [".cursorrules", "global", "be brief"],
    ["AGENTS.md", "global", "be kind"],
    ["CLAUDE.md", "global", "be quick"],
    ["sub/AGENTS.md", "global", "be kinder"],
    [".cursor/skills/release/SKILL.md", "agentFetched", "steps"],
  ]);
  expect(context.rules[3]?.type?.type.value).toMatchObject({ globs: ["*.ts", "src/**/*.{ts,tsx}"] });
  expect(context.agentSkills).toMatchObject([{ description: "makes a release", content: "steps" }]);
  const { READONLY, DEFAULT } = CustomSubagentPermissionMode;
  expect(context.customSubagents).toMatchObject([
    { name: "helper", description: "helps", prompt: "You help.", model: "inherit", permissionMode: READONLY },
    { name: "other", prompt: "You are other.", permissionMode: DEFAULT, source: "workspace" },
  ]);
  const without = await contextOf(await openExecutor({ workspace }));
  expect([without.rules, without.agentSkills, without.customSubagents]).toEqual([[], [], []]);
});

test.each([
  ["no head", {}, "no head"],
  ["---\na: 1\n---\nbody", { a: 1 }, "body"],
  ["\uFEFF---\r\na: 1\r\n---\r\nbody", { a: 1 }, "body"],
  ["---\n---\n", {}, ""],
  ["---\nnever closed", {}, "---\nnever closed"],
])("front matter of %j", (text, fields, body) => {
  expect(frontMatterOf(text)).toMatchObject({ fields, body });
  expect(listField(frontMatterOf("---\nglobs: [a, b]\n---"), "globs")).toEqual(["a", "b"]);
});

async function hooked(hooks: { [event: string]: unknown[] }, scripts: { [name: string]: string } = {}) {
  const workspace = await temporaryFolder();
  await fill(workspace, { ".cursor/hooks.json": JSON.stringify({ version: 1, hooks }) });
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(join(workspace, name), text);
    await chmod(join(workspace, name), 0o755);
  }
  return openExecutor({ workspace, settings: "project" });
}

test("a hook sees a command and can deny it", async () => {
  const script = `#!/bin/sh
tee seen.json >/dev/null
echo '{"permission":"deny","user_message":"not today","agent_message":"do something else"}'
`;
  const client = await hooked(
    { beforeShellExecution: [{ command: "./hook.sh", matcher: "^git push" }] },
    { "hook.sh": script },
  );
  const run = (command: string) => client.ask({ case: "shellStreamArgs", value: { command, toolCallId: "call" } });
  const [denied] = await run("git push origin");
  const reason = "Shell blocked by beforeShellExecution hook: not today\n\nAgent note: do something else";
  expect(denied).toMatchObject({ value: { event: { case: "rejected", value: { reason } } } });
  expect(JSON.parse(await readFile(join(client.workspace, "seen.json"), "utf8"))).toMatchObject({
    hook_event_name: "beforeShellExecution",
    command: "git push origin",
    cwd: client.workspace,
    workspace_roots: [client.workspace],
  });
  expect((await run("echo fine")).at(-1)).toMatchObject({ value: { event: { case: "exit" } } });
});

test("exit code 2 denies; other failures and slow hooks are passed over unless they are to fail closed", async () => {
  const read = async (hook: object) => {
    const client = await hooked({ preToolUse: [hook] });
    await writeFile(join(client.workspace, "a.txt"), "x");
    const answer = await client.askOnce({ case: "readArgs", value: { path: "a.txt" } });
    return answer.case === "readResult" ? answer.value.result : answer;
  };
  expect(await read({ command: "echo never; exit 2" })).toMatchObject({
    case: "rejected",
    value: { reason: "Read blocked by preToolUse hook: never" },
  });
  expect(await read({ command: "exit 1" })).toMatchObject({ case: "success" });
  expect(await read({ command: "exit 1", failClosed: true })).toMatchObject({ case: "rejected" });
  expect(await read({ command: "sleep 1000", timeout: 0.2 })).toMatchObject({ case: "success" });
  expect(await read({ command: "sleep 1000", timeout: 0.2, failClosed: true })).toMatchObject({
    value: { reason: expect.stringContaining("did not answer within 200 ms") as string },
  });
  expect(await read({ command: "cat /dev/null" })).toMatchObject({ case: "success" });
});

test("the server's own events reach the hooks; without hooks there is no handler", async () => {
  const client = await hooked({ preCompact: [{ command: `echo '{"user_message":"compacting"}'` }] });
  const request = { request: { case: "preCompact", value: { trigger: "auto", contextTokens: 5n } } } as const;
  const answer = await client.askOnce({ case: "executeHookArgs", value: { request } });
  expect(answer).toMatchObject({
    value: { response: { response: { case: "preCompact", value: { userMessage: "compacting" } } } },
  });
  const plain = await openExecutor();
  await expect(plain.ask({ case: "executeHookArgs", value: { request } })).rejects.toThrow("No handler found");
});

test("broken hooks stop the start, because they could have been a prohibition", async () => {
  const workspace = await temporaryFolder();
  await fill(workspace, { ".cursor/hooks.json": "{" });
  await expect(openExecutor({ workspace, settings: "project" })).rejects.toThrow("hooks.json");
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  onTestFinished(() => server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function get(client: TestExecutor, url: string) {
  const answer = await client.askOnce({ case: "fetchArgs", value: { url } });
  if (answer.case !== "fetchResult") throw new Error(String(answer.case));
  return answer.value.result;
}

test("fetch: text of any status, bounded, http only, redirects judged", async () => {
  const base = await serve((request, response) => {
    const { url } = request;
    if (url === "/moved") return response.writeHead(302, { location: "/text" }).end();
    if (url === "/loop") return response.writeHead(302, { location: "/loop" }).end();
    if (url === "/image") return response.writeHead(200, { "content-type": "image/png" }).end("x");
    if (url === "/huge") return response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(6_000_000));
    return response.writeHead(url === "/text" ? 200 : 404, { "content-type": "text/plain" }).end("words");
  });
  const asked: string[] = [];
  const policy: ExecutorOptions["policy"] = {
    decide: ({ url = "" }) => {
      asked.push(url.slice(base.length));
      return Promise.resolve(url.endsWith("/secret") ? { allow: false, reason: "no" } : { allow: true });
    },
  };
  const client = await openExecutor({ policy });
  expect(await get(client, `${base}/moved`)).toMatchObject({
    case: "success",
    value: { content: "words", statusCode: 200, contentType: "text/plain" },
  });
  expect(asked).toEqual(["/moved", "/text"]);
  expect(await get(client, `${base}/none`)).toMatchObject({ case: "success", value: { statusCode: 404 } });
  const error = (text: string) => ({ case: "error", value: { error: expect.stringContaining(text) as string } });
  expect(await get(client, `${base}/loop`)).toMatchObject(error("redirects"));
  expect(await get(client, `${base}/image`)).toMatchObject(error("image/png"));
  expect(await get(client, `${base}/secret`)).toMatchObject(error("no"));
  expect(await get(client, "file:///etc/passwd")).toMatchObject(error("no http or https address"));
  expect(await get(client, "nonsense")).toMatchObject(error("no http or https address"));
  expect(await get(client, "http://127.0.0.1:1/")).toMatchObject(error("fetch failed"));
  const huge = await get(client, `${base}/huge`);
  if (huge.case !== "success") throw new Error(String(huge.case));
  expect(huge.value.content.length).toBeLessThan(5_300_000);
  expect(huge.value.content).toContain("[truncated");
});
