import { splitCommand } from "./split-command.js";

const alwaysAsked = new Map<string, string>();
const ask = (why: string, names: string): void => {
  for (const name of names.split(" ")) alwaysAsked.set(name, why);
};
ask("it acts with other rights", "sudo su doas pkexec runuser chroot nsenter unshare");
ask("it can destroy disks", "dd mkfs fdisk sfdisk parted wipefs shred mount umount swapoff losetup");
ask("it ends processes or the machine", "kill killall pkill shutdown reboot halt poweroff systemctl service launchctl");
ask(
  "it changes the system",
  "apt apt-get dpkg yum dnf pacman brew snap crontab at iptables useradd usermod userdel passwd",
);
ask("it reaches into containers or clusters", "docker podman kubectl helm terraform ansible");
ask("it talks to the network", "curl wget nc ncat netcat ssh scp sftp ftp telnet socat rsync aws gcloud az gh");
ask("it runs text as commands", "eval source .");
ask("it changes owners", "chown chgrp");

const shells = new Set("sh bash zsh dash ksh fish".split(" "));
const wrappers = new Set(
  "env nohup time nice ionice timeout stdbuf setsid command exec xargs builtin caffeinate".split(" "),
);
const writers = new Set("rm mv cp tee ln chmod truncate install rmdir mkdir touch unlink".split(" "));
const gitAsked = new Set("push clean filter-branch filter-repo restore rebase gc prune update-ref".split(" "));
const publishing = new Set("publish unpublish login logout adduser owner token".split(" "));

/**
 * Why a command line should be shown to a person before it runs, or null. `isOutside` tells whether a path as written
 * leads out of the workspace. A guard against accidents and against careless models; a sandbox it is not.
 */
export function dangerOf(line: string, isOutside: (path: string) => boolean, depth = 0): string | null {
  if (depth > 3) return "it nests shells";
  const { parts, written, opaque } = splitCommand(line);
  const target = written.find((path) => path !== "/dev/null" && isOutside(path));
  if (target !== undefined) return `it writes to ${target}, outside the workspace`;
  for (const part of parts) {
    const why = dangerOfCall(part.words, isOutside, depth);
    if (why !== null) return `${why}: ${part.text.slice(0, 200)}`;
  }
  return opaque ? dangerHidden(line) : null;
}

function dangerOfCall(words: readonly string[], isOutside: (path: string) => boolean, depth: number): string | null {
  const [first = "", ...rest] = words;
  if (/[$`]/.test(first)) return "what it runs is computed";
  const name = first.slice(first.lastIndexOf("/") + 1);
  if (wrappers.has(name)) return dangerWrapped(name, rest, isOutside, depth);
  if (name.startsWith("mkfs")) return "it can destroy disks";
  const always = alwaysAsked.get(name);
  if (always !== undefined) return always;
  if (shells.has(name)) return dangerOfShell(rest, isOutside, depth);
  if (name === "git") return dangerOfGit(rest);
  if (name === "find" && rest.some((word) => /^-(?:delete|exec|execdir|ok|okdir|fprint.*)$/.test(word)))
    return "it acts on every file it finds";
  if (/^(?:npm|pnpm|yarn|cargo|gem|twine|poetry)$/.test(name) && rest.some((word) => publishing.has(word)))
    return "it publishes or changes an account";
  if (!writers.has(name)) return null;
  if ((name === "rm" || name === "chmod") && rest.some((word) => /^-[a-zA-Z]*[rR]|^--recursive$/.test(word)))
    return "it changes whole folders";
  return rest.some((word) => !word.startsWith("-") && isOutside(word))
    ? "it changes files outside the workspace"
    : null;
}

function dangerWrapped(
  name: string,
  rest: readonly string[],
  isOutside: (path: string) => boolean,
  depth: number,
): string | null {
  // Flags of the wrapper and their values are skipped one by one: a value that is no program is harmless to look at.
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (word.startsWith("-") || /^[A-Za-z_]\w*=/.test(word) || /^[\d.]+[smhd]?$/.test(word)) continue;
    return dangerOfCall(rest.slice(at), isOutside, depth + (wrappers.has(word) ? 1 : 0));
  }
  return name === "xargs" || name === "exec" ? "it runs what it reads" : null;
}

function dangerOfShell(rest: readonly string[], isOutside: (path: string) => boolean, depth: number): string | null {
  const flag = rest.findIndex((word) => /^-[a-z]*c$/.test(word));
  if (flag >= 0) return dangerOf(rest[flag + 1] ?? "", isOutside, depth + 1);
  return rest.some((word) => !word.startsWith("-")) ? null : "it runs what it reads";
}

function dangerOfGit(rest: readonly string[]): string | null {
  const at = rest.findIndex((word, index) => !word.startsWith("-") && !/^-[Cc]$/.test(rest[index - 1] ?? ""));
  const verb = rest[at] ?? "";
  const more = rest.slice(at + 1);
  if (gitAsked.has(verb)) return "it publishes or discards work";
  if (verb === "reset" && more.includes("--hard")) return "it discards work";
  if (verb === "checkout" && more.some((word) => word === "--" || word === "." || word === "-f" || word === "--force"))
    return "it discards work";
  if (verb === "branch" && more.some((word) => /^-[a-zA-Z]*[dD]|^--delete$/.test(word))) return "it deletes branches";
  if (verb === "stash" && /^(?:drop|clear)$/.test(more[0] ?? "")) return "it discards work";
  if (verb === "config" && more.some((word) => word === "--global" || word === "--system"))
    return "it changes the system";
  return null;
}

/** What runs cannot be told: any dangerous name in the text counts. */
function dangerHidden(line: string): string | null {
  for (const word of line.split(/[^\w.-]+/)) {
    if (word === "." || word === "at" || word === "service" || word === "source") continue;
    const why = alwaysAsked.get(word);
    if (why !== undefined) return `${why} (${word})`;
  }
  if (/\brm\s+(?:-\S+\s+)*-\w*[rR]/.test(line)) return "it deletes whole folders";
  if (/\bgit\b[^\n]*\b(?:push|clean|restore|reset\s+--hard)\b/.test(line)) return "it publishes or discards work";
  return null;
}
