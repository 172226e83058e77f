import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "./config-error.js";
import type { Environment } from "./env-providers.js";
import { type LoadInput, loadConfig } from "./load.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyturn-config-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function load(environment: Environment = {}, flags: LoadInput["flags"] = {}) {
  return loadConfig({
    environment: { HOME: join(folder, "home"), ...environment },
    workingDirectory: folder,
    flags,
    defaultModels: (type, provider) => [
      { id: `${provider}-best`, provider: type },
      { id: "shared", provider: type },
    ],
  });
}

async function write(text: string, name = "keyturn.yaml"): Promise<void> {
  await writeFile(join(folder, name), text);
}

async function linesOf(text: string, environment: Environment = {}, name?: string): Promise<string[]> {
  await write(text, name);
  const error = await load(environment).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return [];
  if (!(error instanceof ConfigError)) throw error;
  return error.lines;
}

const example = `
server: { host: 127.0.0.1, port: 8484, http2: false, tls: { cert: ./cert.pem, key: ./key.pem } }
store: { url: "sqlite:keyturn.db" }
providers:
  openai: { type: openai, apiKey: "\${OPENAI_API_KEY}" }
  local: { type: openai-compatible, baseURL: "http://127.0.0.1:11434/v1" }
models:
  - { id: gpt-5, provider: openai }
  - { id: qwen, provider: local, model: "qwen3:32b", contextWindow: 32768, displayName: Qwen }
aliases: { default: gpt-5, "composer-*": gpt-5 }
slots: { title: qwen, compaction: gpt-5 }
fallbacks: { gpt-5: [qwen] }
`;

describe("loadConfig", () => {
  it("has defaults for everything", async () => {
    const config = await load();
    expect(config).toMatchObject({
      server: { host: "127.0.0.1", port: 8484, http2: false, allowedHosts: [], allowedOrigins: [], heartbeatMs: 5_000 },
      store: { url: "sqlite:keyturn.db", retentionMs: 86_400_000 },
      dataDir: join(folder, "home", ".keyturn"),
      models: { providers: [], models: [], aliases: {}, fallbacks: {} },
      slots: {},
      limits: { disconnectGraceMs: 30_000, maxPasses: 200, runTotalMs: 86_400_000 },
      logLevel: "info",
      secrets: [],
      watchedFiles: [],
    });
    expect(config.clients.map(({ name, disconnectGraceMs }) => [name, disconnectGraceMs])).toEqual([["sdk", 0]]);
  });

  it("reads the example of the design", async () => {
    await write("cert", "cert.pem");
    await write("key", "key.pem");
    await write(example);
    const config = await load({ OPENAI_API_KEY: "sk-from-environment" });
    expect(config.server.tls).toEqual({ cert: join(folder, "cert.pem"), key: join(folder, "key.pem") });
    expect(config.models).toEqual({
      providers: [
        { name: "openai", type: "openai", apiKey: "sk-from-environment" },
        { name: "local", type: "openai-compatible", baseURL: "http://127.0.0.1:11434/v1" },
      ],
      models: [
        { id: "gpt-5", provider: "openai" },
        { id: "qwen", provider: "local", model: "qwen3:32b", contextWindow: 32_768, displayName: "Qwen" },
      ],
      aliases: { default: "gpt-5", "composer-*": "gpt-5" },
      fallbacks: { "gpt-5": ["qwen"] },
    });
    expect(config.slots).toEqual({ title: "qwen", compaction: "gpt-5" });
    expect(config.secrets).toEqual(["sk-from-environment"]);
    expect(config.watchedFiles).toEqual([join(folder, "keyturn.yaml")]);
  });

  it("reads JSON with and without comments", async () => {
    await write(
      '{\n\t"server": { "port": 1, // one\n "host": "a//b" }, /* two\n */ "aliases": {},\n}',
      "keyturn.jsonc",
    );
    expect((await load()).server).toMatchObject({ port: 1, host: "a//b" });
    await write('{"server":{"port":2}}', "keyturn.json");
    expect((await load()).server.port).toBe(2);
  });

  it("looks for the file in the promised order", async () => {
    const dataDir = join(folder, "data");
    await mkdir(dataDir);
    const port = async (environment: Environment = {}, flags: LoadInput["flags"] = {}) =>
      (await load({ KEYTURN_DATA_DIR: "data", ...environment }, flags)).server.port;
    await write("server: { port: 5 }", "data/keyturn.yaml");
    expect(await port()).toBe(5);
    await write("server: { port: 4 }", "keyturn.yml");
    expect(await port()).toBe(4);
    await write("server: { port: 3 }", "keyturn.yaml");
    expect(await port()).toBe(3);
    await write("server: { port: 2 }", "two.yaml");
    expect(await port({ KEYTURN_CONFIG: "two.yaml" })).toBe(2);
    await write("server: { port: 1 }", "one.yaml");
    expect(await port({ KEYTURN_CONFIG: "two.yaml" }, { config: "one.yaml" })).toBe(1);
    await expect(load({ KEYTURN_CONFIG: "none.yaml" })).rejects.toThrow("none.yaml there is no such file");
  });

  it("lets the command line win over the environment, and that over the file", async () => {
    await write("server: { host: file, port: 1 }\nlogLevel: warn");
    const environment = {
      KEYTURN_PORT: "0",
      KEYTURN_HOST: "env",
      KEYTURN_LOG_LEVEL: "DEBUG",
      KEYTURN_API_KEY: "preset",
    };
    const config = await load(environment);
    expect(config).toMatchObject({ server: { host: "env", port: 0 }, logLevel: "debug", presetApiKey: "preset" });
    expect(config.secrets).toEqual(["preset"]);
    expect((await load(environment, { port: 9, host: "flag" })).server).toMatchObject({ host: "flag", port: 9 });
    await expect(load({ KEYTURN_PORT: "http" })).rejects.toThrow(
      "KEYTURN_PORT: must be a whole number from 0 to 65535",
    );
    await expect(load({ KEYTURN_LOG_LEVEL: "loud" })).rejects.toThrow("KEYTURN_LOG_LEVEL: must be one of trace, debug");
  });

  it("makes providers of well-known variables", async () => {
    const { models, secrets } = await load({
      OPENAI_API_KEY: " k1 ",
      OPENAI_BASE_URL: "https://proxy.example",
      ANTHROPIC_API_KEY: "",
      GOOGLE_API_KEY: "k2",
      GROQ_API_KEY: "k3",
      OLLAMA_HOST: "0.0.0.0",
    });
    expect(models.providers).toEqual([
      { name: "openai", type: "openai", apiKey: "k1", baseURL: "https://proxy.example/v1" },
      { name: "google", type: "google", apiKey: "k2" },
      { name: "groq", type: "openai-compatible", apiKey: "k3", baseURL: "https://api.groq.com/openai/v1" },
      { name: "ollama", type: "openai-compatible", baseURL: "http://127.0.0.1:11434/v1" },
    ]);
    expect(models.models.map(({ id, provider }) => `${provider}/${id}`)).toEqual([
      "openai/openai-best",
      "openai/shared",
      "google/google-best",
      "groq/groq-best",
      "ollama/ollama-best",
    ]);
    expect(secrets).toEqual(["k1", "k2", "k3"]);
    await write("providers: {}");
    expect((await load({ OPENAI_API_KEY: "k1" })).models.providers).toEqual([]);
  });

  it("understands every form of Ollama's address", async () => {
    const forms = ["127.0.0.1:1234", "http://box:1", "https://box.example", "http://box:1/base/", "http://box:1/v1"];
    const urls = await Promise.all(
      forms.map(async (form) => (await load({ OLLAMA_HOST: form })).models.providers[0]?.baseURL),
    );
    expect(urls).toEqual([
      "http://127.0.0.1:1234/v1",
      "http://box:1/v1",
      "https://box.example/v1",
      "http://box:1/base",
      "http://box:1/v1",
    ]);
  });

  it("replaces references", async () => {
    await mkdir(join(folder, "sub"));
    await write("sub/secret\n", "sub/key.txt");
    await write(
      [
        "server: { port: '${PORT:-81}', http2: '${FLAG}', host: 'a-${NAME}-$${NAME}' }",
        "providers:",
        "  p: { type: openai, apiKey: '{file:key.txt}', headers: { x: 'Bearer ${NAME}' } }",
      ].join("\n"),
      "sub/c.yaml",
    );
    const config = await load({ NAME: "${PORT}", FLAG: "true", KEYTURN_CONFIG: "sub/c.yaml" });
    expect(config.server).toMatchObject({ port: 81, http2: true, host: "a-${PORT}-${NAME}" });
    expect(config.models.providers[0]).toMatchObject({ apiKey: "sub/secret", headers: { x: "Bearer ${PORT}" } });
    expect(config.secrets).toEqual(["sub/secret", "Bearer ${PORT}"]);
    expect(config.watchedFiles).toEqual([join(folder, "sub", "c.yaml"), join(folder, "sub", "key.txt")]);
  });

  it("keeps rules for client classes", async () => {
    await write(
      "clients: [{ name: web, headers: { X-Kind: 'web*' }, onDisconnect: continue, contentType: event-stream }]",
    );
    expect((await load()).clients[0]).toEqual({
      name: "web",
      headers: { "x-kind": "web*" },
      onDisconnect: "continue",
      disconnectGraceMs: 30_000,
      contentType: "event-stream",
    });
  });
});

describe("what loadConfig says", () => {
  it("says where a key is wrong, and which was meant", async () => {
    const text =
      "servr: {}\nserver:\n  prt: 1\n  port: many\n  tls: { cert: a }\nmodels:\n  - { Id: a, provider: 1 }\nzzzzzz: 1\n";
    expect(await linesOf(text)).toEqual([
      'keyturn.yaml:1:1 servr: is no known key, did you mean "server"?',
      'keyturn.yaml:3:3 server.prt: is no known key, did you mean "port"?',
      "keyturn.yaml:4:9 server.port: must be a number",
      "keyturn.yaml:5:8 server.tls.key: is missing",
      "keyturn.yaml:7:5 models[0].id: is missing",
      'keyturn.yaml:7:7 models[0].Id: is no known key, did you mean "id"?',
      "keyturn.yaml:7:24 models[0].provider: must be a text",
      "keyturn.yaml:8:1 zzzzzz: is no known key",
    ]);
  });

  it("says what a value must be", async () => {
    const text = [
      "server: { port: 99999, host: '', publicUrl: ftp://x }",
      "providers: { p: { type: opnai, baseURL: nope }, q: 3 }",
      "clients: 7",
      "limits: { maxPasses: 0.5 }",
    ].join("\n");
    expect(await linesOf(text)).toEqual([
      "keyturn.yaml:1:17 server.port: must be at most 65535",
      "keyturn.yaml:1:30 server.host: must not be empty",
      "keyturn.yaml:1:45 server.publicUrl: must be an http:// or https:// URL",
      "keyturn.yaml:2:25 providers.p.type: must be one of openai, anthropic, google, openai-compatible",
      "keyturn.yaml:2:41 providers.p.baseURL: must be an http:// or https:// URL",
      "keyturn.yaml:2:52 providers.q: must be a map",
      "keyturn.yaml:3:10 clients: must be a list",
      "keyturn.yaml:4:22 limits.maxPasses: must be a whole number",
    ]);
  });

  it("names the variable or the file that is missing", async () => {
    const text = "providers:\n  p: { type: openai, apiKey: '${NOT_THERE}', headers: { a: '{file:gone.txt}' } }\n";
    expect(await linesOf(text)).toEqual([
      "keyturn.yaml:2:30 providers.p.apiKey: the environment variable NOT_THERE is not set",
      "keyturn.yaml:2:60 providers.p.headers.a: the file gone.txt cannot be read (ENOENT)",
    ]);
  });

  it("checks that every name names something", async () => {
    const text = [
      "providers: { open: { type: openai }, local: { type: openai-compatible }, demo: { type: openai } }",
      "models:",
      "  - { id: gpt-5, provider: opne }",
      "  - { id: gpt-5, provider: open }",
      "aliases: { default: gpt5, gpt-5: gpt-5, quick: demo }",
      "slots: { title: quick, compaction: slow }",
      "fallbacks: { gpt-6: [gpt-5], gpt-5: [none] }",
    ].join("\n");
    expect(await linesOf(text)).toEqual([
      "keyturn.yaml:1:45 providers.local: needs a baseURL, since its type is openai-compatible",
      "keyturn.yaml:1:74 providers.demo: is the name of the built-in demo; choose another",
      'keyturn.yaml:3:28 models[0].provider: there is no provider "opne", did you mean "open"?',
      "keyturn.yaml:4:11 models[1].id: is the id of models[0] already",
      'keyturn.yaml:5:21 aliases.default: there is no model "gpt5", did you mean "gpt-5"?',
      "keyturn.yaml:5:27 aliases.gpt-5: is the id of a model; an alias must be another name",
      'keyturn.yaml:6:36 slots.compaction: there is no model "slow"',
      'keyturn.yaml:7:14 fallbacks.gpt-6: there is no model "gpt-6", did you mean "gpt-5"?',
      'keyturn.yaml:7:38 fallbacks.gpt-5[0]: there is no model "none"',
    ]);
  });

  it("says why a file cannot be read as one", async () => {
    expect(await linesOf("server: { port: 1 }\nserver: {}\n")).toEqual(["keyturn.yaml:2:1 the key is there twice"]);
    expect(await linesOf("- a\n")).toEqual(["keyturn.yaml:1:1 must be a map of keys, such as `server:`"]);
    expect((await linesOf("a: [1\nb: 2\n"))[0]).toMatch(/^keyturn\.yaml:\d+:\d+ cannot be read: /);
    expect((await linesOf("a: *nowhere\n"))[0]).toMatch(/^keyturn\.yaml(:\d+:\d+)? cannot be read: /);
    expect(await linesOf("server: { tls: { cert: c.pem, key: k.pem } }")).toEqual([
      "keyturn.yaml:1:24 server.tls.cert: there is no such file",
      "keyturn.yaml:1:36 server.tls.key: there is no such file",
    ]);
    await rm(join(folder, "keyturn.yaml"));
    expect(await linesOf('{\n  // a comment\n  "servr": {}\n}', {}, "keyturn.jsonc")).toEqual([
      'keyturn.jsonc:3:3 servr: is no known key, did you mean "server"?',
    ]);
  });

  it("never repeats a secret", async () => {
    const canary = "sk-canary-0123456789";
    const text = `server: { port: ${canary} }\nproviders: { p: { type: ${canary}, apiKey: { a: ${canary} }, baseURL: "ftp://u:${canary}@h" } }`;
    expect((await linesOf(text)).join("\n")).not.toContain(canary);
  });

  it("throws ConfigError and nothing else, whatever the file holds", async () => {
    const anyYaml = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.json().map(String),
      fc
        .array(
          fc.constantFrom(
            "server",
            "models",
            ": ",
            "- ",
            "{",
            "}",
            "[",
            "]",
            "\n",
            "  ",
            "*a",
            "&a ",
            "? ",
            "!!map ",
            "<<",
            "${X}",
            "{file:x}",
            "__proto__",
            "1",
            "null",
            "'",
            '"',
            "|",
            "#",
            "\t",
            "\u0000",
          ),
          { maxLength: 40 },
        )
        .map((parts) => parts.join("")),
    );
    await fc.assert(
      fc.asyncProperty(anyYaml, fc.constantFrom("keyturn.yaml", "keyturn.jsonc"), async (text, name) => {
        await write(text, name);
        try {
          await load({}, { config: name });
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("refuses files that are made to hurt", async () => {
    const bomb = Array.from({ length: 30 }, (_, index) => `b${index}: &b${index} [${"*a,".repeat(8)}]\n`).join("");
    for (const text of ["[".repeat(3_000), `a: &a [x]\n${bomb}`]) expect(await linesOf(text)).not.toEqual([]);
  });
});
