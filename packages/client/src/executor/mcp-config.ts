import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { codeOf, isMissing } from "./errors.js";

/** An MCP server to be started, or to be reached by HTTP. */
export type McpServerConfig =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: { readonly [name: string]: string };
      /** Default: the workspace. */
      readonly cwd?: string;
    }
  | {
      readonly url: string;
      readonly headers?: { readonly [name: string]: string };
      /** `sse` is the older HTTP transport. */
      readonly type?: "http" | "sse";
    };

/** A configured server, and whether a project (and not the user) named it. */
export interface ConfiguredServer {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly fromProject: boolean;
  /** Its entry cannot be used, and why. */
  readonly problem?: string;
}

/** Reads `.cursor/mcp.json` and `.keyturn/mcp.json` of the workspaces. Broken files and entries are told, not thrown. */
export async function readProjectServers(
  workspaces: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<ConfiguredServer[]> {
  const found = new Map<string, ConfiguredServer>();
  for (const root of workspaces) {
    for (const file of [".cursor/mcp.json", ".keyturn/mcp.json"].map((name) => join(root, name))) {
      for (const server of await readServers(file, root, environment)) found.set(server.name, server);
    }
  }
  return [...found.values()];
}

async function readServers(file: string, root: string, environment: NodeJS.ProcessEnv): Promise<ConfiguredServer[]> {
  const broken = (why: string): ConfiguredServer[] => [
    { name: file, config: { command: "" }, fromProject: true, problem: `${file} ${why}` },
  ];
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    return isMissing(codeOf(cause)) ? [] : broken("cannot be read as JSON");
  }
  const servers = (content as { mcpServers?: unknown } | null)?.mcpServers;
  if (typeof servers !== "object" || servers === null) return broken('has no "mcpServers"');
  return Object.entries(servers).flatMap(([name, entry]: [string, unknown]) => {
    const value = expand(entry, root, environment) as { [key: string]: unknown } | null;
    if (value?.disabled === true) return [];
    const isUsable = typeof value?.command === "string" || typeof value?.url === "string";
    if (isUsable) return [{ name, config: value as unknown as McpServerConfig, fromProject: true }];
    const problem = `${file}: the server ${name} has neither a command nor a url`;
    return [{ name, config: { command: "" }, fromProject: true, problem }];
  });
}

/** Puts in `${env:NAME}`, `${workspaceFolder}` and `${userHome}`. */
function expand(value: unknown, root: string, environment: NodeJS.ProcessEnv): unknown {
  if (typeof value === "string") {
    return value
      .replace(/\$\{env:([^}]+)\}/g, (_, name: string) => environment[name] ?? "")
      .replaceAll("${workspaceFolder}", root)
      .replaceAll("${userHome}", homedir());
  }
  if (Array.isArray(value)) return value.map((each: unknown) => expand(each, root, environment));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expand(each, root, environment)]));
}
