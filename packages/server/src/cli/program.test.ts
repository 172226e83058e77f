import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "./program.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyturn-cli-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A command under way: what it printed so far, and how to signal it. */
function start(args: string[], environment: Record<string, string> = {}) {
  const out: string[] = [];
  const signals: (() => void)[] = [];
  const exits: number[] = [];
  let printed = () => {};
  const firstOutput = new Promise<void>((resolve) => (printed = resolve));
  const stdout = {
    write: (text: string) => {
      out.push(text);
      printed();
    },
  };
  const errors: string[] = [];
  const code = runCli(args, {
    environment: { KEYTURN_DATA_DIR: join(folder, "data"), KEYTURN_LOG_LEVEL: "silent", ...environment },
    workingDirectory: folder,
    stdout,
    stderr: { write: (text: string) => errors.push(text) },
    onSignal: (_signal, handler) => signals.push(handler),
    exit: (status) => exits.push(status),
  });
  return { code, out, errors, exits, firstOutput, signal: () => signals[0]?.() };
}

async function run(args: string[], environment: Record<string, string> = {}) {
  const { code, out, errors } = start(args, environment);
  return { code: await code, out: out.join(""), errors: errors.join("") };
}

describe("command line", () => {
  test("wrong use is exit code 2, help is 0", async () => {
    expect((await run(["sreve"])).code).toBe(2);
    expect((await run(["sreve"])).errors).toContain("Did you mean serve?");
    expect((await run(["serve", "--port", "http"])).code).toBe(2);
    expect((await run(["keys", "revoke"])).code).toBe(2);
    const help = await run(["--help"]);
    expect([help.code, help.out]).toEqual([0, expect.stringContaining("Exit codes:")]);
    expect((await run(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("keys are made, listed and revoked", async () => {
    const made = await run(["keys", "create", "laptop", "--json"]);
    const { key, keyId } = JSON.parse(made.out) as { key: string; keyId: string };
    expect(key).toMatch(/^kt_/);
    expect((await run(["keys", "create"])).out).toMatch(/^kt_\S+\n$/);
    const listed = await run(["keys", "list"]);
    expect(listed.out).toMatch(new RegExp(`^ID +NAME .*\n${keyId} +laptop `));
    expect(listed.out).not.toContain(key);
    expect(await run(["keys", "revoke", keyId])).toEqual({ code: 0, out: `revoked ${keyId}\n`, errors: "" });
    expect(await run(["keys", "revoke", keyId])).toEqual({
      code: 1,
      out: "",
      errors: "keyturn: there is no good key with this id\n",
    });
    const { items } = JSON.parse((await run(["keys", "list", "--json"])).out) as { items: object[] };
    expect(items[0]).toEqual({
      id: keyId,
      name: "laptop",
      createdAt: expect.any(String),
      revokedAt: expect.any(String),
    });
  });

  test("models and configuration", async () => {
    const { items } = JSON.parse((await run(["models", "list", "--json"])).out) as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).toEqual(["demo"]);
    expect((await run(["models", "list"], { OPENAI_API_KEY: "sk-0123456789" })).out).toMatch(/\(default\) +openai/);
    expect((await run(["config", "validate"])).out).toMatch(/^valid \(no file/);
    const file = join(folder, "bad.yaml");
    await writeFile(file, "server: { prot: 1 }\n");
    const bad = await run(["config", "validate", "--config", file]);
    expect([bad.code, bad.errors]).toEqual([1, expect.stringMatching(/^keyturn: .*bad\.yaml:1:11 .*port/)]);
    expect(JSON.parse((await run(["config", "schema"])).out)).toMatchObject({ title: "Keyturn configuration" });
    expect(JSON.parse((await run(["runs", "list", "--json"])).out)).toEqual({ items: [] });
  });

  test("the first start shows a key and where to point a client; later ones do not", async () => {
    const first = start(["serve", "--port", "0"]);
    await first.firstOutput;
    const text = first.out.join("");
    const [, address, key] = /ready at (http:\S+)[^]*CURSOR_API_KEY=(kt_\S+)/.exec(text) ?? [];
    expect(text).toContain(`export CURSOR_BACKEND_URL=${address} CURSOR_API_BASE_URL=${address}`);
    expect(text).toContain("Demo model only: set OPENAI_API_KEY");
    const models = await fetch(`${address}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(models.status).toBe(200);

    const port = String(new URL(address ?? "").port);
    const locked = await run(["serve", "--port", "0"]);
    expect([locked.code, locked.errors]).toEqual([
      1,
      expect.stringMatching(/^keyturn: another Keyturn server is using .*\n$/),
    ]);
    expect((await run(["keys", "list"])).errors).toContain("--api-key");
    const listed = await run(["keys", "list", "--api-key", key ?? ""], { KEYTURN_PORT: port });
    expect([listed.code, listed.out]).toEqual([0, expect.stringContaining("first key")]);
    expect((await run(["runs", "list", "--json"], { KEYTURN_PORT: port, KEYTURN_API_KEY: key ?? "" })).code).toBe(0);

    first.signal();
    expect([await first.code, first.errors]).toEqual([0, []]);

    const second = start(["serve", "--port", "0", "--json"]);
    await second.firstOutput;
    expect(JSON.parse(second.out.join(""))).toEqual({
      version: expect.any(String),
      address: expect.stringMatching(/^http:/),
      port: expect.any(Number),
      models: ["demo"],
    });
    second.signal();
    second.signal();
    expect(second.exits).toEqual([1]);
    expect(await second.code).toBe(0);
  });

  test("a port in use is one clear line", async () => {
    const other: Server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as { port: number };
    const { code, errors } = await run(["serve", "--port", String(port)]);
    expect([code, errors]).toEqual([
      1,
      `keyturn: 127.0.0.1:${port} is in use; stop the other program, or choose another port with --port\n`,
    ]);
    other.close();
    // The key is not lost with the start that failed.
    const next = start(["serve", "--port", "0"]);
    await next.firstOutput;
    expect(next.out.join("")).toContain("shown only this once");
    next.signal();
    await next.code;
  });

  test("a preset key that is too short is one clear line", async () => {
    const { code, errors } = await run(["serve", "--port", "0"], { KEYTURN_API_KEY: "short" });
    expect([code, errors]).toEqual([1, expect.stringMatching(/^keyturn: KEYTURN_API_KEY must have .*\n$/)]);
  });
});
