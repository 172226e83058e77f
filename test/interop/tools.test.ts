import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { objects } from "../support/vendors/script.js";
import { messagesOf, textOf, toolNamesOf, toolResultsOf } from "./support/prompts.js";
import { scenario } from "./support/scenario.js";

scenario(
  "a turn reads, edits, greps, writes, runs a shell and deletes, and the files have really changed",
  {
    files: { "greeting.txt": "hello there\nhow are you\n", "src/colour.js": "const colour = 1;\n", "old.txt": "old\n" },
    script: () => [
      { text: "I read first.", calls: [{ id: "a1", name: "Read", args: { path: "greeting.txt" } }] },
      {
        calls: [
          { id: "b1", name: "Edit", args: { path: "greeting.txt", old_string: "there", new_string: "world" } },
          { id: "b2", name: "Grep", args: { pattern: "colour" } },
          { id: "b3", name: "Write", args: { path: "notes/new.md", contents: "# New\n" } },
        ],
      },
      {
        calls: [
          { id: "c1", name: "Shell", args: { command: "wc -l < greeting.txt > count.txt && echo counted; exit 3" } },
          { id: "c2", name: "Delete", args: { path: "old.txt" } },
          { id: "c3", name: "Ls", args: { path: "." } },
        ],
      },
      { text: "All done." },
    ],
  },
  async (world, sdk) => {
    const run = await sdk.complete(await sdk.createAgent(world.agentOptions()), "Change my files");

    expect(await run.ended()).toMatchObject({ status: "finished", result: "All done." });
    expect(run.text()).toBe("I read first.All done.");
    expect(await world.read("greeting.txt")).toBe("hello world\nhow are you\n");
    expect(await world.read("notes/new.md")).toBe("# New\n");
    expect((await world.read("count.txt")).trim()).toBe("2");
    expect(existsSync(join(world.workspace, "old.txt"))).toBe(false);

    const requests = world.vendor.requests;
    expect(requests).toHaveLength(4);
    expect(toolNamesOf(requests[0])).toEqual(expect.arrayContaining(["Read", "Edit", "Grep", "Write", "Shell"]));
    expect(toolResultsOf(requests[1])[0]).toContain("hello there");
    const [, edited, found] = toolResultsOf(requests[2]);
    expect(edited).toContain("world");
    expect(found).toContain("src/colour.js");
    const [, , , , shell, , listing] = toolResultsOf(requests[3]);
    expect(shell).toContain("counted");
    expect(shell).toMatch(/exit code:? 3/i);
    expect(listing).toContain("colour.js");

    const running = run.toolCalls("running").map(({ call_id }) => call_id);
    const completed = run.toolCalls("completed");
    expect(new Set(completed.map(({ call_id }) => call_id)).size).toBe(7);
    expect(completed).toHaveLength(7);
    expect(new Set(running)).toEqual(new Set(completed.map(({ call_id }) => call_id)));
    const results = new Map(completed.map(({ name, args, result }) => [name, { args, result }]));
    expect(results.get("read")).toMatchObject({
      result: { status: "success", value: { totalLines: expect.anything() } },
    });
    expect(results.get("grep")).toMatchObject({ args: { pattern: "colour" }, result: { status: "success" } });
    expect(results.get("shell")).toMatchObject({ result: { status: "success", value: { exitCode: 3 } } });
    expect(results.get("delete")).toMatchObject({ result: { status: "success" } });
    expect(results.get("ls")).toMatchObject({ result: { status: "success" } });
    const edits = completed.filter(({ name }) => name === "edit");
    expect(edits).toHaveLength(2);
    const edit = edits.find(({ args }) => JSON.stringify(args).includes("greeting.txt"));
    expect(edit).toMatchObject({ result: { status: "success", value: { linesAdded: 1, linesRemoved: 1 } } });
    expect(JSON.stringify(edit?.result)).toContain("hello world");
    for (const { call_id } of completed) {
      const seen = run.toolCalls().filter((call) => call.call_id === call_id);
      expect(seen.at(-1)?.status).toBe("completed");
      expect(seen[0]?.status).toBe("running");
    }
  },
);

scenario(
  "failed tools and a broken call are shown as completed with an error, and the turn goes on",
  {
    script: () => [
      {
        calls: [
          { id: "a1", name: "Read", args: { path: "missing.txt" } },
          { id: "a2", name: "Grep", args: { pattern: "([" } },
          { id: "a3", name: "Shell", args: { command: "pwd", working_directory: "no/such/folder" } },
          { id: "a4", name: "Edit", args: '{"path": "x.txt", "old_str' },
          { id: "a5", name: "NoSuchTool", args: {} },
        ],
      },
      { text: "I understand." },
    ],
  },
  async (world, sdk) => {
    const run = await sdk.complete(await sdk.createAgent(world.agentOptions()), "Try things");

    expect(await run.ended()).toMatchObject({ status: "finished", result: "I understand." });
    const results = toolResultsOf(world.vendor.requests[1]);
    expect(results).toHaveLength(5);
    expect(results[0]).toContain("missing.txt");
    expect(results[2]).toContain("no/such/folder");
    expect(results[4]).toContain("NoSuchTool");
    for (const { result } of run.toolCalls("completed")) expect(result).toMatchObject({ status: "error" });
    expect(run.toolCalls("completed").map(({ name }) => name)).toEqual(
      expect.arrayContaining(["read", "grep", "shell"]),
    );
  },
);

scenario(
  "a custom tool is called in the SDK's process, and one that throws is an error the model sees",
  {
    script: () => [
      { calls: [{ id: "a1", name: "custom-user-tools-lookup", args: { id: 7, deep: { list: [1, "two", null] } } }] },
      { calls: [{ id: "b1", name: "custom-user-tools-explode", args: {} }] },
      { text: "Alice it is." },
    ],
  },
  async (world, sdk) => {
    const inputSchema = { type: "object", properties: { id: { type: "number" }, deep: { type: "object" } } };
    const agent = await sdk.createAgent(
      world.agentOptions({
        customTools: {
          lookup: { description: "Look somebody up.", inputSchema, answer: { name: "Alice", age: 30 } },
          explode: { throws: "the fuse was short" },
        },
      }),
    );
    const run = await sdk.complete(agent, "Who is 7?");

    expect(await run.ended()).toMatchObject({ status: "finished", result: "Alice it is." });
    const calls = sdk.of("custom-tool");
    expect(calls.map(({ name }) => name)).toEqual(["lookup", "explode"]);
    expect(calls[0]).toMatchObject({ args: { id: 7, deep: { list: [1, "two", null] } }, pid: sdk.of("ready")[0]?.pid });
    const offered = objects(world.vendor.requests[0]?.body["tools"]).map((tool) => tool["function"]);
    expect(offered).toContainEqual(
      expect.objectContaining({ name: "custom-user-tools-lookup", description: "Look somebody up." }),
    );
    expect(toolResultsOf(world.vendor.requests[1])[0]).toContain("Alice");
    expect(toolResultsOf(world.vendor.requests[2])[1]).toContain("the fuse was short");
    expect(run.toolCalls("completed").map(({ name }) => name)).toEqual(["mcp", "mcp"]);
    expect(run.toolCalls("completed")[0]).toMatchObject({ result: { status: "success" } });
  },
);

scenario(
  "a tool of an MCP server over stdio is called",
  { script: () => [{ calls: [{ id: "a1", name: "words-reverse", args: { word: "keyturn" } }] }, { text: "Turned." }] },
  async (world, sdk) => {
    const args = [fileURLToPath(new URL("fixtures/word-server.mjs", import.meta.url))];
    const words = { command: process.execPath, args, env: { WORDS_SUFFIX: "!" } };
    const agent = await sdk.createAgent(world.agentOptions({ mcpServers: { words } }));
    const run = await sdk.complete(agent, "Turn it round");

    expect(await run.ended()).toMatchObject({ status: "finished", result: "Turned." });
    expect(toolNamesOf(world.vendor.requests[0])).toContain("words-reverse");
    expect(textOf(messagesOf(world.vendor.requests[0])[0])).toContain("Turns words round.");
    expect(toolResultsOf(world.vendor.requests[1])).toEqual([expect.stringContaining("!nrutyek")]);
    expect(run.toolCalls("completed")).toEqual([
      expect.objectContaining({ name: "mcp", result: expect.objectContaining({ status: "success" }) }),
    ]);
    expect(JSON.stringify(run.toolCalls("completed")[0]?.result)).toContain("!nrutyek");
  },
);

scenario(
  "plan mode offers no tools that write, keeps to it on the next send, and ends when told",
  { files: { "a.txt": "a\n" }, script: () => [{ text: "A plan." }, { text: "More plan." }, { text: "Acting." }] },
  async (world, sdk) => {
    const agent = await sdk.createAgent(world.agentOptions({ mode: "plan" }));
    await sdk.complete(agent, "Plan it");
    await sdk.complete(agent, "Plan more");
    const run = await sdk.complete(agent, "Do it", { mode: "agent" });

    expect(await run.ended()).toMatchObject({ status: "finished", result: "Acting." });
    const [first, second, third] = world.vendor.requests.map(toolNamesOf);
    expect(first).toEqual(expect.arrayContaining(["Read", "Grep", "Ls"]));
    const writing = ["Shell", "Write", "Edit", "Delete"];
    expect(writing.filter((name) => first?.includes(name) || second?.includes(name))).toEqual([]);
    expect(second).toEqual(first);
    expect(third).toEqual(expect.arrayContaining(writing));
  },
);

scenario(
  "searches and listings of a git workspace leave out git's own files and installed packages",
  {
    git: true,
    files: { "a.txt": "needle exit\n", ".gitignore": "node_modules/\n", "node_modules/b.txt": "needle\n" },
    script: () => [
      {
        calls: [
          { id: "a1", name: "Ls", args: { path: "." } },
          { id: "a2", name: "Grep", args: { pattern: "needle|exit", output_mode: "files_with_matches" } },
          { id: "a3", name: "Grep", args: { pattern: "needle", glob: "**/*.txt", output_mode: "files_with_matches" } },
          { id: "a4", name: "Glob", args: { glob_pattern: "**/*" } },
        ],
      },
      { text: "Found." },
    ],
  },
  async (world, sdk) => {
    const run = await sdk.complete(await sdk.createAgent(world.agentOptions()), "Look round");

    expect((await run.ended()).status).toBe("finished");
    const [listing, found, foundByName, named] = toolResultsOf(world.vendor.requests[1]);
    for (const result of [listing, found, foundByName, named]) {
      expect(result).toContain("a.txt");
      expect(result).not.toMatch(/\.git\/|HEAD/);
    }
    for (const result of [found, foundByName, named]) expect(result).not.toContain("node_modules/b.txt");
  },
);
