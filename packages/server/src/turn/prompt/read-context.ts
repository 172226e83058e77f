import type { PermissionsAutoRunInstructions, RequestContext } from "@keyturn/protocol/agent";
import type { ContextFacts, FeatureFacts, PermissionFacts, PluginFacts } from "./context-facts.js";
import { cutText, fitTexts, leftOutNotice, notedList, oneLine, sortedBy } from "./cut-text.js";
import { promptLimits } from "./prompt-limits.js";
import { readMcpServers, readSkills, readSubagents } from "./read-capabilities.js";
import { readEnvironment, readFiles, readGitRepos, readLayouts } from "./read-environment.js";
import { readRules } from "./read-rules.js";

/**
 * Everything the prompt and the tools need of the client's context, bounded (U6). The same context gives the same bytes,
 * in whatever order the client lists what has no order of its own.
 */
export function readContext(context: RequestContext): ContextFacts {
  const gitRepos = readGitRepos(context);
  const { rules, projectFiles } = readRules(context);
  const skills = readSkills(context);
  const mcpServers = readMcpServers(context);
  const subagents = readSubagents(context);
  const layouts = readLayouts(context);
  const files = readFiles(context);
  return {
    env: context.env ? readEnvironment(context.env) : null,
    gitRepos: gitRepos.kept,
    gitReposLeftOut: gitRepos.leftOut,
    rules: rules.kept,
    rulesLeftOut: rules.leftOut,
    projectFiles: projectFiles.kept,
    projectFilesLeftOut: projectFiles.leftOut,
    skills: skills.kept,
    skillsLeftOut: skills.leftOut,
    mcpServers: mcpServers.kept,
    mcpServersLeftOut: mcpServers.leftOut,
    subagents: subagents.kept,
    subagentsLeftOut: subagents.leftOut,
    layouts: layouts.kept,
    layoutsLeftOut: layouts.leftOut,
    files: files.kept,
    filesLeftOut: files.leftOut,
    userChanges: readUserChanges(context),
    plugins: readPlugins(context),
    notes: {
      conversation: cutText(context.conversationNotesListing ?? "", promptLimits.notesListing),
      shared: cutText(context.sharedNotesListing ?? "", promptLimits.notesListing),
    },
    intentSummary: cutText(context.userIntentSummary ?? "", promptLimits.summary),
    hooks: {
      steps: notedList([...new Set(context.hooksConfig?.configuredSteps)].sort()),
      context: cutText(context.hooksAdditionalContext?.trim() ?? "", promptLimits.hookContext),
    },
    permissions: readPermissions(context),
    attribution: {
      commit: cutText(context.commitAttributionMessage?.trim() ?? "", promptLimits.attribution),
      pullRequest: cutText(context.prAttributionMessage?.trim() ?? "", promptLimits.attribution),
    },
    features: readFeatures(context),
    debug: readDebug(context),
  };
}

function readUserChanges(context: RequestContext): string[] {
  const changes = sortedBy(context.precomputedHumanChanges, (change) => change.path);
  return notedList(
    changes.map((change) => {
      const how = change.isDeletedFile ? "deleted" : change.isNewFile ? "new" : "changed";
      return `${change.path} (${how})`;
    }),
  );
}

function readPlugins(context: RequestContext): PluginFacts[] {
  const { recentlyAddedPlugin: added, matchedInstalledPlugin: matched } = context;
  const plugins: PluginFacts[] = [];
  if (added) plugins.push(pluginOf(added, "recently added"));
  if (matched) plugins.push(pluginOf(matched, `matches "${oneLine(matched.matchedKeyword)}"`));
  return plugins;
}

function pluginOf(plugin: { displayName: string; description: string }, why: string): PluginFacts {
  return { name: oneLine(plugin.displayName), why, text: cutText(plugin.description, promptLimits.summary) };
}

function readPermissions(context: RequestContext): PermissionFacts {
  // The administrator's word comes first: it must not be what a bound cuts off.
  const all = [context.adminPermissionsAutoRun, context.userPermissionsAutoRun, context.projectPermissionsAutoRun];
  const gather = (read: (instructions: PermissionsAutoRunInstructions) => readonly string[]): string[] => {
    const texts = new Set(all.flatMap((one) => (one ? read(one) : [])).map((text) => text.trim()));
    texts.delete("");
    const items = [...texts].map((text) => ({ text }));
    const { kept, leftOut } = fitTexts(items, promptLimits.permissions, (item) => item.text);
    const notice = leftOutNotice(leftOut, "instructions");
    return [...kept.map((item) => item.text), ...(notice === "" ? [] : [notice])];
  };
  return {
    allow: gather((one) => one.allowInstructions),
    block: gather((one) => one.blockInstructions),
    deniedCommands: notedList([...new Set(context.adminCommandDenylist)].sort()),
  };
}

function readFeatures(context: RequestContext): FeatureFacts {
  return {
    webSearch: context.webSearchEnabled ?? null,
    webFetch: context.webFetchEnabled ?? null,
    readLints: context.readLintsEnabled ?? null,
    mcpAuth: context.supportsMcpAuth ?? null,
    searchConversations: context.searchConversationsEnabled ?? null,
    sendMessage: context.sendMessageEnabled ?? null,
  };
}

function readDebug(context: RequestContext): ContextFacts["debug"] {
  const debug = context.debugModeConfig;
  if (!debug) return null;
  return {
    logPath: oneLine(debug.logPath),
    endpoint: oneLine(debug.serverEndpoint),
    sessionId: oneLine(debug.sessionId),
  };
}
