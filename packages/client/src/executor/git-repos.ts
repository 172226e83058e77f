import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GitRepoInfoSchema } from "@keyturn/protocol/agent";
import { limits } from "./limits.js";

type Repo = MessageInitShape<typeof GitRepoInfoSchema>;

/** The repositories that the workspaces lie in or have as direct folders, with branch and status. None without git. */
export async function readGitRepos(workspaces: readonly string[]): Promise<Repo[]> {
  const folders = await Promise.all(workspaces.map(candidatesOf));
  const roots = await Promise.all(
    folders
      .flat()
      .slice(0, 4 * limits.gitRepos)
      .map((folder) => rootOf(folder)),
  );
  const distinct = [...new Set(roots.filter((root) => root !== ""))].slice(0, limits.gitRepos);
  return Promise.all(distinct.map(repoOf));
}

async function candidatesOf(workspace: string): Promise<string[]> {
  const entries = await readdir(workspace, { withFileTypes: true }).catch(() => []);
  const inner = entries.filter((entry) => entry.isDirectory()).map((entry) => join(workspace, entry.name));
  return [workspace, ...inner.filter((folder) => existsSync(join(folder, ".git")))];
}

async function rootOf(folder: string): Promise<string> {
  return (await git(folder, "rev-parse", "--show-toplevel")).trim();
}

async function repoOf(path: string): Promise<Repo> {
  const [status, remote] = await Promise.all([
    git(path, "status", "--short", "--branch"),
    git(path, "config", "--get", "remote.origin.url"),
  ]);
  const branch = /^## (?:No commits yet on )?([^\n]*?)(?:\.\.\.[^\n]*)?(?:\n|$)/.exec(status)?.[1] ?? "";
  const remoteUrl = withoutSecret(remote.trim());
  return {
    path,
    status: bounded(status),
    branchName: branch.startsWith("HEAD (no branch)") ? "" : branch,
    ...(remoteUrl === "" ? {} : { remoteUrl }),
  };
}

function bounded(status: string): string {
  if (status.length <= limits.gitStatusBytes) return status;
  const lines = status.slice(0, limits.gitStatusBytes).split("\n").slice(0, -1);
  return `${lines.join("\n")}\n[${status.split("\n").length - 1 - lines.length} more lines]\n`;
}

/** Tokens are often part of the address; the server has no business with them. */
function withoutSecret(remote: string): string {
  return remote.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");
}

/** The output of git; empty when it fails, takes too long or is not there. It locks nothing and runs no monitor. */
function git(folder: string, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
    const options = { cwd: folder, env, timeout: limits.gitTimeoutMs, maxBuffer: 4 * 1024 * 1024 };
    execFile("git", ["-c", "core.fsmonitor=false", ...args], options, (error, stdout) => resolve(error ? "" : stdout));
  });
}
