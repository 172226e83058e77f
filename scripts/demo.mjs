// One whole agent turn to watch, without a key: starts a server with the built-in demo model, lets `keyturn run` work in
// a temporary folder, and in the middle cuts the connection and later kills the server. The turn survives both.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = join(dirname(fileURLToPath(import.meta.url)), "../packages/server/bin/keyturn.js");
const folder = mkdtempSync(join(tmpdir(), "keyturn-demo-"));
const workspace = join(folder, "project");
const dataDir = join(folder, "data");
const apiKey = `kt_${randomBytes(16).toString("hex")}`;
/** So long each piece of the turn waits in the proxy, so that a person can follow. */
const paceMs = process.stdout.isTTY ? 60 : 0;

mkdirSync(workspace);
mkdirSync(dataDir);
writeFileSync(join(workspace, "README.md"), "# A small project\n\nIt was made for Keyturn's demo.\n");

// No provider's key is taken from the user: the demo calls no model and needs no network.
const environment = {
  PATH: process.env.PATH,
  HOME: folder,
  TERM: process.env.TERM,
  NO_COLOR: process.env.NO_COLOR,
  KEYTURN_DATA_DIR: dataDir,
  KEYTURN_API_KEY: apiKey,
  KEYTURN_LOG_LEVEL: "silent",
};

let server;
let client;
process.on("exit", () => {
  client?.kill("SIGKILL");
  server?.process.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

say("starting a server with the demo model");
server = await startServer();
const proxy = await startProxy([
  { at: "README.md", act: cutConnection },
  { at: "ls -l keyturn-demo.md", act: killServer },
]);
say(`keyturn run "Show me what you can do" in ${workspace}`);
process.exitCode = await runClient();
await proxy.close();
if (process.exitCode === 0) {
  say(
    proxy.remaining === 0
      ? "done: the connection was cut once and the server was killed once, and the turn went on where it stood"
      : "done, but the turn was over before everything could be broken",
  );
} else {
  say("the demo failed; the lines above say why");
}
process.exit();

function say(text) {
  console.error(`\n--- demo: ${text} ---`);
}

async function startServer() {
  const child = spawn(process.execPath, [program, "serve", "--json", "--port", "0"], {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`the server ended with exit code ${code}`)));
  });
  return { process: child, port: JSON.parse(line).port };
}

function runClient() {
  client = spawn(process.execPath, [program, "run", "--model", "demo", "Show me what you can do"], {
    cwd: workspace,
    env: { ...environment, KEYTURN_SERVER: proxy.url },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((resolve) => client.once("exit", (code) => resolve(code ?? 1)));
}

function cutConnection(cut) {
  say("cutting the connection");
  cut();
}

async function killServer(cut) {
  say("killing the server (kill -9) in the middle of a command, and starting it again on the same data");
  server.process.kill("SIGKILL");
  cut();
  server = await startServer();
}

/** A TCP proxy that does something to the connections once what the server sends holds a text; each act once, in order. */
async function startProxy(acts) {
  const sockets = new Set();
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  const listener = createServer((near) => {
    const far = connect(server.port, "127.0.0.1");
    for (const socket of [near, far]) sockets.add(socket);
    near.on("error", () => far.destroy()).on("close", () => sockets.delete(near));
    far.on("error", () => near.destroy());
    near.on("data", (chunk) => far.write(chunk)).on("end", () => far.end());
    // One after the other, the end behind them all.
    let turn = Promise.resolve();
    far.on("data", (chunk) => {
      turn = turn.then(async () => {
        await new Promise((resolve) => setTimeout(resolve, paceMs));
        near.write(chunk);
        if (acts.length > 0 && chunk.includes(acts[0].at)) setImmediate(acts.shift().act, cut);
      });
    });
    far.on("close", () => {
      sockets.delete(far);
      turn = turn.then(() => near.end());
    });
  });
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${listener.address().port}`,
    get remaining() {
      return acts.length;
    },
    close: () => {
      cut();
      return new Promise((resolve) => listener.close(resolve));
    },
  };
}
