// Sets a checkout up with nothing but Node: dependencies, generated code, build. Runs before `npm start` and
// `npm test`, does only what changed since the last time, and says what it does.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const marks = join(root, ".keyturn-setup");
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Keyturn needs Node 20.19 or newer; this is ${process.versions.node}.`);
}

mkdirSync(marks, { recursive: true });
step("dependencies", hashOf(["package.json", "package-lock.json", ...workspaces("package.json")]), installed, () =>
  run("Installing dependencies", "npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]),
);
step("build", hashOf([...workspaces("tsconfig.json"), "tsconfig.base.json", ...sources()]), built, () => {
  for (const name of packages()) rmSync(join(root, "packages", name, "tsconfig.tsbuildinfo"), { force: true });
  run("Building", process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-b",
    ...packages().map((name) => `packages/${name}`),
  ]);
});

/** Runs the work of a step unless its inputs are those of the last time and its result is there. */
function step(name, inputs, isThere, work) {
  const mark = join(marks, name);
  if (isThere() && existsSync(mark) && readFileSync(mark, "utf8") === inputs) return;
  work();
  writeFileSync(mark, inputs);
}

function installed() {
  return existsSync(join(root, "node_modules/typescript/bin/tsc")) && existsSync(join(root, "node_modules/@keyturn"));
}

function built() {
  return existsSync(join(root, "packages/server/dist/cli/main.js"));
}

function run(what, command, args) {
  console.error(`keyturn: ${what} ...`);
  // npm is a .cmd on Windows, which only a shell can start.
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (done.error) fail(`${what} could not start: ${done.error.message}`);
  if (done.status !== 0) fail(`${what} failed (exit code ${done.status}). The lines above say why.`);
}

function packages() {
  return readdirSync(join(root, "packages")).filter((name) =>
    existsSync(join(root, "packages", name, "tsconfig.json")),
  );
}

function workspaces(file) {
  return packages()
    .map((name) => `packages/${name}/${file}`)
    .filter((path) => existsSync(join(root, path)));
}

function sources() {
  return packages().flatMap((name) => files(`packages/${name}/src`));
}

function files(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory()
        ? files(path)
        : /\.(ts|json)$/.test(entry.name) && !/\.test\.ts$/.test(entry.name)
          ? [path]
          : [];
    })
    .sort();
}

function hashOf(paths) {
  const hash = createHash("sha256").update(process.versions.modules);
  for (const path of paths) {
    if (!existsSync(join(root, path)) || !statSync(join(root, path)).isFile()) continue;
    hash
      .update(path)
      .update("\0")
      .update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}

function fail(message) {
  console.error(`keyturn: ${message}`);
  process.exit(1);
}
