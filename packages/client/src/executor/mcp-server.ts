import {
  type CallToolResult,
  Client,
  type Resource,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import { messageOf } from "./errors.js";
import { limits } from "./limits.js";
import type { ConfiguredServer } from "./mcp-config.js";
import { McpProcess } from "./mcp-process.js";
import type { ProcessTrees } from "./process-trees.js";

/** A server as it is now. */
export interface McpServerState {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly instructions: string;
  /** `connected`, or why not. */
  readonly status: string;
}

interface Connection {
  readonly client: Client;
  readonly transport: Transport;
  tools: readonly Tool[];
  isOpen: boolean;
}

/** What a server needs from outside. */
export interface McpSurroundings {
  readonly processes: ProcessTrees;
  readonly workspace: string;
  /** Why a server must not be started, or null. */
  mayStart(server: ConfiguredServer): Promise<string | null>;
}

/** One MCP server: connected when first needed, and again when it was lost. */
export class McpServer {
  readonly name: string;
  readonly #server: ConfiguredServer;
  readonly #surroundings: McpSurroundings;
  #connecting: Promise<Connection> | null = null;
  #client: Client | null = null;
  #isClosed = false;
  #errors = "";

  constructor(server: ConfiguredServer, surroundings: McpSurroundings) {
    this.name = server.name;
    this.#server = server;
    this.#surroundings = surroundings;
  }

  /**
   * Connects if needed and tells what there is. Never rejects: a server that fails says so in its status, and one that
   * takes longer than `waitMs` is `connecting`.
   */
  async state(waitMs: number = limits.mcpConnectTimeoutMs): Promise<McpServerState> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), waitMs)));
    try {
      const connection = await Promise.race([this.#connection(), late]);
      if (connection === null) return { name: this.name, tools: [], instructions: "", status: "connecting" };
      const { client, tools } = connection;
      return { name: this.name, tools, instructions: client.getInstructions() ?? "", status: "connected" };
    } catch (cause) {
      return { name: this.name, tools: [], instructions: "", status: messageOf(cause) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Calls a tool. An error that the tool reports is part of the result; rejects when there is no result. */
  async call(tool: string, input: { [name: string]: unknown }, signal: AbortSignal): Promise<CallToolResult> {
    const connection = await this.#connection();
    const options = { signal, timeout: limits.mcpCallTimeoutMs, resetTimeoutOnProgress: true };
    return this.#told(connection, `running ${tool}`, () => {
      return connection.client.callTool({ name: tool, arguments: input }, options);
    });
  }

  /** The resources it offers; none when it has no such thing. */
  async resources(signal: AbortSignal): Promise<Resource[]> {
    const connection = await this.#connection();
    if (!connection.client.getServerCapabilities()?.resources) return [];
    return this.#told(connection, "listing its resources", async () => {
      return (await connection.client.listResources(undefined, { signal })).resources;
    });
  }

  /** Reads one resource. */
  async read(uri: string, signal: AbortSignal) {
    const connection = await this.#connection();
    return this.#told(connection, `reading ${uri}`, async () => {
      return (await connection.client.readResource({ uri }, { signal })).contents;
    });
  }

  /** Ends the connection, and the server if it was started here. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // Not waited for: a server that hangs while it starts is ended by this all the same.
    this.#connecting?.catch(() => undefined);
    await this.#client?.close().catch(() => undefined);
  }

  async #told<Result>(connection: Connection, doing: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      if (connection.isOpen) throw cause;
      const words = `The MCP server ${this.name} ended while ${doing}; the next call starts it again.${this.#said()}`;
      throw new Error(words, { cause });
    }
  }

  #connection(): Promise<Connection> {
    return (this.#connecting ??= this.#connect().catch((cause: unknown) => {
      this.#connecting = null;
      throw cause;
    }));
  }

  async #connect(): Promise<Connection> {
    if (this.#server.problem !== undefined) throw new Error(this.#server.problem);
    const refusal = await this.#surroundings.mayStart(this.#server);
    if (refusal !== null) throw new Error(`The MCP server ${this.name} was not started: ${refusal}`);
    if (this.#isClosed) throw new Error("The client is closed.");
    const transport = this.#transport();
    const client = new Client(
      { name: "keyturn", version: "0.1.0" },
      { listChanged: { tools: { autoRefresh: false, onChanged: () => void this.#refresh() } } },
    );
    this.#client = client;
    const connection: Connection = { client, transport, tools: [], isOpen: true };
    client.onclose = () => {
      connection.isOpen = false;
      this.#connecting = null;
      if (transport instanceof McpProcess) this.#errors = transport.errors;
    };
    client.onerror = () => undefined;
    try {
      await client.connect(transport, { timeout: limits.mcpConnectTimeoutMs });
      connection.tools = (await client.listTools(undefined, { cacheMode: "refresh" })).tools;
      return connection;
    } catch (cause) {
      if (transport instanceof McpProcess) this.#errors = transport.errors;
      await client.close().catch(() => undefined);
      throw new Error(`The MCP server ${this.name} cannot be used: ${messageOf(cause)}${this.#said()}`, { cause });
    }
  }

  async #refresh(): Promise<void> {
    const connection = await this.#connecting?.catch(() => null);
    if (!connection) return;
    const listed = await connection.client.listTools(undefined, { cacheMode: "refresh" }).catch(() => null);
    if (listed) connection.tools = listed.tools;
  }

  #transport(): Transport {
    const { config } = this.#server;
    if ("command" in config) return new McpProcess(config, this.#surroundings.workspace, this.#surroundings.processes);
    const options = { requestInit: { headers: { ...config.headers } } };
    const url = new URL(config.url);
    return config.type === "sse"
      ? new SSEClientTransport(url, options)
      : new StreamableHTTPClientTransport(url, options);
  }

  #said(): string {
    return this.#errors === "" ? "" : ` It said: ${this.#errors}`;
  }
}
