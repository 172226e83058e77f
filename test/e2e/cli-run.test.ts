import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CliOptions, hasTerminals, isAlive, runCliProcess, startCli } from "../support/cli-process.js";
import { startTestServer } from "../support/server.js";
import { startServerProcess, temporaryFolder } from "../support/server-process.js";
import { objects, type ScriptedAnswer, type VendorScript } from "../support/vendors/script.js";
import { startVendor } from "../support/vendors/start-vendor.js";

/** The real binary, in a pipe and in a pseudo-terminal. */

const cleanups: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

function keep<Resource extends AsyncDisposable>(resource: Resource): Resource {
  cleanups.push(resource);
  return resource;
}

let folder: string;
let options: CliOptions & { environment: Record<string, string> };
beforeEach(async () => {
  folder = keep(await temporaryFolder()).path;
  const place = (name: string) => join(folder, name);
  for (const name of ["work", "data", "tmp"]) await mkdir(place(name));
  await writeFile(place("work/README.md"), "# Here\n");
  options = { workingDirectory: place("work"), dataDir: place("data"), environment: { TMPDIR: place("tmp") } };
});

const read = (name: string) => readFile(join(folder, "work", name), "utf8");

/** Makes a scripted vendor the only model; answers go by the tool results of the turn. */
async function useModel(answers: readonly ScriptedAnswer[]): Promise<void> {
  const script: VendorScript = ({ body }) => {
    const messages = objects(body.messages);
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
    return answers[turn.filter(({ role }) => role === "tool").length] ?? { text: "no more" };
  };
  const vendor = keep(await startVendor("openai-compatible", script));
  await writeFile(join(folder, "data", "keyturn.yaml"), configFor(vendor.baseURL));
}

const configFor = (baseURL: string) => `
providers: { scripted: { type: openai-compatible, apiKey: k-0123456789, baseURL: "${baseURL}" } }
models: [{ id: scripted, provider: scripted }]`;

const call = (command: string): ScriptedAnswer => ({ calls: [{ name: "Shell", args: { command } }] });

describe("keyturn run in a pipe", () => {
  test("one turn on a private server: text, tools and a diff as plain lines; nothing is left behind", async () => {
    const { code, out, errors } = await runCliProcess(["run", "hello"], options);
    expect([code, errors]).toEqual([0, ""]);
    expect(out).toContain("[read]");
    expect(out).toContain("+# Keyturn demo\n");
    expect(out).toContain("That was the whole turn.");
    expect(out).not.toContain("\u001b");
    expect(await read("keyturn-demo.md")).toContain("Keyturn demo");
    expect((await readdir(join(folder, "tmp"))).filter((name) => name.startsWith("keyturn-private"))).toEqual([]);
    expect(await readdir(join(folder, "data", "client", "journals"))).toEqual([]);
  });

  test("--json prints one event a line, and the conversation goes on with --continue or by its id", async () => {
    await useModel([{ text: "Hi.", usage: { input: 7, output: 2 } }]);
    const first = await runCliProcess(["run", "--json", "hello"], options);
    const events = first.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { [name: string]: unknown });
    expect(events[0]).toMatchObject({ type: "started", isPrivateServer: true });
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["connected", "text", "checkpoint"]));
    expect(events.at(-1)).toEqual({
      type: "ended",
      outcome: "finished",
      exitCode: 0,
      usage: expect.objectContaining({ inputTokens: 7, outputTokens: 2 }) as object,
    });
    const { conversationId } = events[0] as { conversationId: string };
    for (const more of [["--continue"], ["--conversation", conversationId]]) {
      const { code, out } = await runCliProcess(["run", "--json", ...more, "again"], options);
      expect([code, JSON.parse(out.split("\n", 1)[0] ?? "")]).toMatchObject([0, { conversationId }]);
    }
    expect((await runCliProcess(["run", "--conversation", "agent-none", "x"], options)).code).toBe(2);
  });

  test("a prompt of 10 MB comes through a pipe", async () => {
    let received = 0;
    const vendor = keep(
      await startVendor("openai-compatible", ({ body }) => {
        received = JSON.stringify(body.messages).length;
        return { text: "long" };
      }),
    );
    const window = "models: [{ id: scripted, provider: scripted, contextWindow: 20000000 }]";
    await writeFile(join(folder, "data", "keyturn.yaml"), configFor(vendor.baseURL).replace(/models: .*/, window));
    const { code, out, errors } = await runCliProcess(["run"], options, "long words ".repeat(950_000));
    expect([errors, out, code]).toEqual(["", "long\n", 0]);
    expect(received).toBeGreaterThan(10_000_000);
  });

  test("wrong use is 2, and says what is wrong", async () => {
    const cases: [string[], string][] = [
      [["run"], "no prompt"],
      [["run", "--mode", "fast", "x"], "Allowed choices"],
      [["run", "--server", "nowhere", "x"], "no address"],
      [["run", "--continue", "--conversation", "x", "y"], "cannot be used with"],
    ];
    for (const [args, words] of cases) {
      const { code, errors } = await runCliProcess(args, options, "");
      expect([code, errors]).toEqual([2, expect.stringContaining(words)]);
    }
    expect((await runCliProcess(["run", "--help"], options)).out).toContain("130  cancelled");
  });

  test("a server that is not there, a wrong key, another program, an unknown model", async () => {
    const server = keep(await startTestServer());
    const other = createServer((_request, response) => void response.end("<html>hello</html>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    cleanups.push({ [Symbol.asyncDispose]: async () => void other.close() });
    const otherUrl = `http://127.0.0.1:${(other.address() as { port: number }).port}`;
    const at = (url: string, key: string, ...more: string[]) =>
      runCliProcess(["run", "--server", url, "--api-key", key, ...more, "hello"], options);

    expect(await at("http://127.0.0.1:1", "k")).toMatchObject({
      code: 1,
      errors: expect.stringContaining("nothing listens"),
    });
    expect(await at(server.baseUrl, "wrong")).toMatchObject({
      code: 2,
      errors: expect.stringContaining("does not take this key"),
    });
    expect(await at(otherUrl, "k")).toMatchObject({
      code: 2,
      errors: expect.stringContaining("does not speak this version"),
    });
    expect(await at(server.baseUrl, server.key, "--model", "nope")).toMatchObject({
      code: 3,
      errors: expect.stringContaining("not configured"),
    });
    expect(await runCliProcess(["run", "--server", server.baseUrl, "x"], options)).toMatchObject({ code: 2 });
    expect((await at(server.baseUrl, server.key)).code).toBe(0);
  });

  test("what would be asked is denied with exit code 3; --yes and rules allow it", async () => {
    await useModel([call("rm -rf build"), { text: "as you like" }]);
    await mkdir(join(folder, "work", "build"));
    const denied = await runCliProcess(["run", "clean up"], options);
    expect(denied).toMatchObject({ code: 3, out: expect.stringMatching(/\[shell\] failed .*needs approval/) });
    expect(existsSync(join(folder, "work", "build"))).toBe(true);
    const allowed = await runCliProcess(["run", "--yes", "clean up"], options);
    expect(allowed.code).toBe(0);
    expect(existsSync(join(folder, "work", "build"))).toBe(false);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 130],
    ["SIGHUP", 130],
    ["closed output", 130],
    ["SIGINT twice", 130],
  ] as const)("%s in the middle of a command ends it and all it has started", async (how, expected) => {
    await useModel([call("echo $$ > pid.txt; echo started; sleep 600 & wait"), { text: "never" }]);
    const cli = keep(startCli(["run", "go"], options));
    cli.end();
    await cli.until("started\n");
    const pid = Number(await read("pid.txt"));
    expect(isAlive(pid)).toBe(true);
    if (how === "closed output") cli.child.stdout?.destroy();
    const signal = how === "closed output" ? "SIGINT" : (how.split(" ")[0] as NodeJS.Signals);
    cli.child.kill(signal);
    if (how === "SIGINT twice") cli.child.kill(signal);
    const { code } = await cli.ended;
    expect(code).toBe(expected);
    expect(isAlive(pid)).toBe(false);
  });

  test("a server that is restarted in the middle is come back to", async () => {
    await useModel([call("mkfifo go.txt; echo started; read line < go.txt; echo $line"), { text: "went on" }]);
    const dataDir = options.dataDir;
    let server = await startServerProcess(dataDir);
    cleanups.push({ [Symbol.asyncDispose]: async () => void (await server.stop("SIGKILL")) });
    const cli = keep(startCli(["run", "--server", server.baseUrl, "--api-key", server.key, "go"], options));
    cli.end();
    await cli.until("started\n");
    const { port } = new URL(server.baseUrl);
    await server.stop("SIGKILL");
    server = await startServerProcess(dataDir, ["--port", port]);
    await writeFile(join(folder, "work", "go.txt"), "after the crash\n");
    const { code, out, errors } = await cli.ended;
    expect([code, out]).toEqual([0, expect.stringMatching(/after the crash[^]*went on/)]);
    expect(errors).toContain("the connection is lost");
    expect(errors).toContain("the connection is back");
  });
});

test("the demo shows a whole turn that survives a cut connection and a killed server, and cleans up", async () => {
  const script = fileURLToPath(new URL("../../scripts/demo.mjs", import.meta.url));
  const { TMPDIR } = options.environment;
  const demo = spawn(process.execPath, [script], {
    env: { PATH: process.env.PATH, TMPDIR },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, errors] = await Promise.all([text(demo.stdout), text(demo.stderr)]);
  expect(errors).toContain("done: the connection was cut once and the server was killed once");
  expect(out).toContain("+# Keyturn demo\n");
  expect(out.match(/\[shell\] done/g)).toHaveLength(1);
  expect(await readdir(TMPDIR ?? "")).toEqual([]);
});

test("keyturn chat reads lines from a pipe, with commands", async () => {
  await useModel([{ text: "Hi." }]);
  const { code, out } = await runCliProcess(["chat"], options, "/help\nhello\n/compact\n/model\n/fork\n/nope\n/cost\n");
  expect(code).toBe(0);
  for (const words of [
    "/fork",
    "Hi.",
    "cannot compact",
    "now: default",
    "Now in the copy",
    "no command /nope",
    "1 turns:",
  ]) {
    expect(out).toContain(words);
  }
});

if (!hasTerminals) console.warn("no `script` of util-linux here: the tests in a pseudo-terminal are skipped");
describe.skipIf(!hasTerminals)("in a pseudo-terminal", () => {
  test("chat: a turn, a question about a command, Ctrl-C ends a turn and then the chat", async () => {
    await useModel([call("rm -rf build"), call("echo $$ > pid.txt; echo started; sleep 600"), { text: "never" }]);
    const cli = keep(startCli(["chat"], { ...options, terminal: true }));
    await cli.until("> ");
    cli.write("clean up\r");
    await cli.until("rm -rf build");
    await cli.until("Allow?");
    cli.write("y\r");
    await cli.until("\u001b[2mstarted");
    const pid = Number(await read("pid.txt"));
    cli.write("\u0003");
    await cli.until("> ");
    expect(isAlive(pid)).toBe(false);
    cli.write("/cost\r");
    await cli.until("turns:");
    cli.write("\u0003");
    expect((await cli.ended).code).toBe(130);
  });

  test("run: colours, an answer remembered for the project, Ctrl-C at a question", async () => {
    await useModel([call("rm -rf build"), { text: "clean" }]);
    const first = keep(startCli(["run", "clean up"], { ...options, terminal: true }));
    await first.until("Allow?");
    first.write("a\r");
    await first.until("Remembered");
    const { code, out } = await first.ended;
    expect([code, out]).toEqual([0, expect.stringContaining("\u001b[36m[shell]\u001b[0m rm -rf build")]);
    const second = keep(startCli(["run", "clean up"], { ...options, terminal: true }));
    expect((await second.ended).code).toBe(0);

    await useModel([call("rm -rf other"), { text: "never" }]);
    const third = keep(startCli(["run", "clean up"], { ...options, terminal: true }));
    await third.until("Allow?");
    third.write("\u0003");
    expect((await third.ended).code).toBe(130);
  });

  test("chat leaves on Ctrl-D with 0, and with the terminal when that is closed", async () => {
    await useModel([call("echo $$ > pid.txt; echo started; sleep 600")]);
    const calm = keep(startCli(["chat"], { ...options, terminal: true }));
    await calm.until("> ");
    calm.write("\u0004");
    expect((await calm.ended).code).toBe(0);

    const closed = keep(startCli(["chat"], { ...options, terminal: true }));
    await closed.until("> ");
    closed.write("go\r");
    await closed.until("started\r\n");
    const pid = Number(await read("pid.txt"));
    closed.child.kill("SIGKILL");
    await closed.ended;
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });
});
