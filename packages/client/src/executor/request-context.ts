import { homedir, release, type } from "node:os";
import { basename } from "node:path";
import { create } from "@bufbuild/protobuf";
import { type RequestContext, type RequestContextArgs, RequestContextSchema } from "@keyturn/protocol/agent";
import { messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import { readGitRepos } from "./git-repos.js";
import { limits } from "./limits.js";
import { instructionsOf, schemaOf, toolsOf } from "./mcp-state.js";
import { readInstructions } from "./project-instructions.js";
import { shellPath } from "./shell-session.js";

/** Tells the server where it is: machine, workspace, repositories, instructions, MCP tools. */
export async function executeRequestContext(
  args: RequestContextArgs,
  call: Call,
  context: ExecutorContext,
): Promise<void> {
  try {
    const value = { requestContext: await readRequestContext(args, context) };
    call.answer({ case: "requestContextResult", value: { result: { case: "success", value } } });
  } catch (cause) {
    const value = { error: messageOf(cause) };
    call.answer({ case: "requestContextResult", value: { result: { case: "error", value } } });
  }
}

/** Gathers the context. What cannot be found is left out; only a bug makes it reject. */
export async function readRequestContext(_args: RequestContextArgs, context: ExecutorContext): Promise<RequestContext> {
  const [gitRepos, instructions, servers] = await Promise.all([
    readGitRepos(context.workspaces),
    readInstructions(context),
    context.mcp.states([], limits.mcpContextWaitMs),
  ]);
  const connected = servers.filter(({ status }) => status === "connected");
  return create(RequestContextSchema, {
    env: environmentOf(context),
    gitRepos,
    gitRepoInfoComplete: true,
    gitStatusInfoComplete: true,
    envInfoComplete: true,
    rules: instructions.rules,
    rulesInfoComplete: true,
    agentSkills: instructions.skills,
    agentSkillsInfoComplete: true,
    customSubagents: instructions.subagents,
    customSubagentsInfoComplete: true,
    hooksConfig: { configuredSteps: context.hooks.events },
    tools: connected.flatMap(toolsOf),
    mcpInstructions: connected.flatMap(instructionsOf),
    mcpInfoComplete: servers.every(({ status }) => status !== "connecting"),
    mcpMetaToolOptions: {
      enabled: true,
      mcpDescriptors: connected.map(({ name, tools, instructions: use }) => ({
        serverName: name,
        serverIdentifier: name,
        ...(use === "" ? {} : { serverUseInstructions: use }),
        tools: tools.map((tool) => ({
          toolName: tool.name,
          description: tool.description,
          inputSchema: schemaOf(tool.inputSchema),
        })),
      })),
    },
    supportsMcpAuth: false,
    readLintsEnabled: false,
  });
}

function environmentOf({ workspace, workspaces, folders, environment }: ExecutorContext) {
  return {
    osVersion: `${type().toLowerCase()} ${release()}`,
    workspacePaths: [...workspaces],
    shell: basename(shellPath(environment)),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    projectFolder: folders.root,
    terminalsFolder: folders.terminals,
    sandboxEnabled: false,
    sandboxSupported: false,
    computerUseSupported: false,
    isWorkingDirHomeDir: workspace === homedir(),
    processWorkingDirectory: process.cwd(),
  };
}
