import type { RequestContext, RequestContextEnv } from "@keyturn/protocol/agent";
import { boundTree } from "../../tools/tree.js";
import type { EnvironmentFacts, FileFacts, GitFacts } from "./context-facts.js";
import { type Fitted, fitTexts, lineList, oneLine, sortedBy } from "./cut-text.js";
import { promptLimits } from "./prompt-limits.js";

/** The machine, its folders and its sandbox, as the client described them. */
export function readEnvironment(env: RequestContextEnv): EnvironmentFacts {
  return {
    osVersion: oneLine(env.osVersion),
    shell: oneLine(env.shell),
    workspacePaths: lineList(env.workspacePaths, promptLimits.path),
    timeZone: oneLine(env.timeZone),
    processFolder: oneLine(env.processWorkingDirectory ?? ""),
    projectFolder: oneLine(env.projectFolder),
    terminalsFolder: oneLine(env.terminalsFolder),
    transcriptsFolder: oneLine(env.agentTranscriptsFolder),
    conversationNotesFolder: oneLine(env.agentConversationNotesFolder),
    sharedNotesFolder: oneLine(env.agentSharedNotesFolder),
    artifactsFolder: oneLine(env.artifactsFolder ?? ""),
    stores: sortedBy(env.mountedAgentStores, (store) => store.path)
      .slice(0, promptLimits.layouts.count)
      .map((store) => ({ path: oneLine(store.path), name: oneLine(store.alias ?? ""), readOnly: store.readOnly })),
    isWorkingDirHomeDir: env.isWorkingDirHomeDir ?? false,
    sandbox: {
      enabled: env.sandboxEnabled,
      supported: env.sandboxSupported ?? null,
      networkDefaults: env.sandboxNetworkHasDefaults ?? null,
      networkAllowed: lineList([...env.sandboxNetworkExplicitAllowlist].sort()),
    },
    secretRedaction: env.secretRedactionEnabled ?? null,
    computerUse: env.computerUseSupported ?? null,
    smartModeClassifier: env.smartModeClassifierAutoModeEnabled ?? null,
  };
}

/** The repositories by path, without credentials. */
export function readGitRepos(context: RequestContext): Fitted<GitFacts> {
  const repos = context.gitRepos.map((repo) => ({
    path: oneLine(repo.path),
    branch: oneLine(repo.branchName),
    remote: oneLine(withoutCredentials(repo.remoteUrl ?? "")),
    text: repo.status.trimEnd(),
  }));
  return fitTexts(
    sortedBy(repos, (repo) => repo.path),
    promptLimits.gitStatus,
    (repo) => repo.path,
  );
}

/** The folder trees by path. */
export function readLayouts(context: RequestContext): Fitted<FileFacts> {
  const layouts = sortedBy(context.projectLayouts, (root) => root.absPath)
    .slice(0, promptLimits.layouts.count)
    .map((root) => ({ path: oneLine(root.absPath), text: boundTree(root).text }));
  return fitTexts(layouts, promptLimits.layouts, (layout) => layout.path);
}

/** The files the client sent along, by path. */
export function readFiles(context: RequestContext): Fitted<FileFacts> {
  const files = Object.entries(context.fileContents).map(([path, text]) => ({ path: oneLine(path), text }));
  return fitTexts(
    sortedBy(files, (file) => file.path),
    promptLimits.files,
    (file) => file.path,
  );
}

/**
 * A remote address without user name, password, query or fragment: people paste tokens into all of them, and the model's
 * provider has no business with any. `git@host:path` names no secret and stays.
 */
export function withoutCredentials(remote: string): string {
  const parts = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)(.*)$/s.exec(remote.trim());
  if (!parts) return remote.trim().replace(/^[^/@:]*:[^/]*@(?=[^/])/, "");
  const [, scheme = "", rest = ""] = parts;
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? "";
  // A password with a raw "/", "?" or "#" in it ends the authority early: what follows the colon is then no port.
  const broken = !authority.includes("@") && /:(?!\d*$)/.test(authority.replace(/^\[[^\]]*\]/, ""));
  const secret = broken ? rest.lastIndexOf("@") : authority.lastIndexOf("@");
  return scheme + rest.slice(secret + 1).replace(/[?#].*$/s, "");
}
