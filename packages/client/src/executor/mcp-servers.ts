import type { Tool } from "@modelcontextprotocol/client";
import type { ConfiguredServer } from "./mcp-config.js";
import { McpServer, type McpServerState, type McpSurroundings } from "./mcp-server.js";

/** Where a call goes, or which names there are instead. */
export type McpRoute =
  | { readonly found: "tool"; readonly server: McpServer; readonly tool: string }
  | { readonly found: "no-tool"; readonly availableTools: readonly string[] }
  | { readonly found: "no-server"; readonly availableServers: readonly string[] };

/** The name a tool goes by on the wire. */
export function wireNameOf(server: string, tool: Pick<Tool, "name">): string {
  return `${server}-${tool.name}`;
}

/** All MCP servers of one executor. */
export class McpServers {
  readonly #servers: ReadonlyMap<string, McpServer>;

  constructor(servers: readonly ConfiguredServer[], surroundings: McpSurroundings) {
    this.#servers = new Map(servers.map((server) => [server.name, new McpServer(server, surroundings)]));
  }

  get names(): string[] {
    return [...this.#servers.keys()];
  }

  find(name: string): McpServer | undefined {
    return this.#servers.get(name);
  }

  /** Connects what is not connected and tells the state of the named servers, or of all. */
  states(names: readonly string[] = [], waitMs?: number): Promise<McpServerState[]> {
    const wanted = [...this.#servers.values()].filter(({ name }) => names.length === 0 || names.includes(name));
    return Promise.all(wanted.map((server) => server.state(waitMs)));
  }

  /** Begins to connect and does not wait. */
  kick(): void {
    void this.states([], 0);
  }

  /** Finds the tool of a call: by server and tool name where both are given, else by its name on the wire. */
  async route(call: { name: string; provider: string; toolName: string }): Promise<McpRoute> {
    const named = call.provider === "" ? undefined : this.#servers.get(call.provider);
    const candidates = named ? [named] : this.#candidates(call.name);
    const available: string[] = [];
    for (const server of candidates) {
      const { name, tools, status } = await server.state();
      const tool = tools.find((each) => {
        const byName = call.name === wireNameOf(name, each);
        return named ? each.name === call.toolName || (call.toolName === "" && byName) || byName : byName;
      });
      if (tool) return { found: "tool", server, tool: tool.name };
      // A server that is down may well have it: its own words tell more than "not found".
      if (status !== "connected") return { found: "tool", server, tool: call.toolName || afterPrefix(call.name, name) };
      available.push(...tools.map((each) => wireNameOf(name, each)));
    }
    if (candidates.length === 0) return { found: "no-server", availableServers: this.names };
    return { found: "no-tool", availableTools: available };
  }

  /** Ends all connections and all servers that were started. */
  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  /** Server names may hold dashes themselves: the longest that fits comes first. */
  #candidates(name: string): McpServer[] {
    return [...this.#servers.values()]
      .filter((server) => name.startsWith(`${server.name}-`))
      .sort((one, other) => other.name.length - one.name.length);
  }
}

function afterPrefix(name: string, server: string): string {
  return name.startsWith(`${server}-`) ? name.slice(server.length + 1) : name;
}
