// Compares the proto files with those of the main branch. A checkout without one (a first commit, a tarball, a
// shallow CI clone) has nothing to compare with, and says so.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
const base = ["origin/main", "main"].find(
  (name) => git("rev-parse", "--verify", "--quiet", `${name}^{commit}`).status === 0,
);
const commit = base && git("rev-parse", base).stdout.trim();
const has = commit && git("cat-file", "-e", `${commit}:packages/protocol/buf.yaml`).status === 0;
if (!has) {
  console.log("no main branch with proto files to compare with");
  process.exit(0);
}
const against = `../../.git#ref=${commit},subdir=packages/protocol`;
const done = spawnSync("npx", ["buf", "breaking", "--against", against], {
  cwd: join(root, "packages/protocol"),
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exit(done.status ?? 1);
