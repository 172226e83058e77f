// Everything that reads the code without running it. Each check's output is shown; the last line counts them.
import { spawnSync } from "node:child_process";

const checks = [
  ["format", "npx", ["biome", "ci", "--colors=off", "--linter-enabled=false", "."]],
  ["lint", "npx", ["oxlint", "--type-aware", "--deny-warnings"]],
  ["types", "npx", ["tsc", "-b"]],
  ["import rule", "npx", ["depcruise", "packages", "--config", ".dependency-cruiser.cjs"]],
  ["unused", "npx", ["knip"]],
  ["proto lint", "npx", ["buf", "lint", "packages/protocol"]],
  ["proto format", "npx", ["buf", "format", "-d", "--exit-code", "packages/protocol"]],
  ["proto breaking", process.execPath, ["scripts/proto-breaking.mjs"]],
  ["generated code", process.execPath, ["scripts/generate.mjs", "--check"]],
  ["size of files", process.execPath, ["scripts/file-sizes.mjs"]],
];

let failed = 0;
for (const [name, command, args] of checks) {
  const done = spawnSync(command, args, { encoding: "utf8", shell: process.platform === "win32" });
  const ok = done.status === 0;
  if (!ok) failed += 1;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (!ok) console.log(`${done.stdout ?? ""}${done.stderr ?? ""}${done.error?.message ?? ""}`);
}
console.log(`${checks.length - failed} checks passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
