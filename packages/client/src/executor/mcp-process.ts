import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { limits } from "./limits.js";
import type { McpServerConfig } from "./mcp-config.js";
import type { ProcessTree, ProcessTrees } from "./process-trees.js";

/**
 * Talks to an MCP server over its standard input and output. Unlike the library's own transport it ends the whole process
 * tree (servers are often started through wrappers), and it keeps the end of what the server says on its error output.
 */
export class McpProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #config: Extract<McpServerConfig, { command: string }>;
  readonly #folder: string;
  readonly #processes: ProcessTrees;
  readonly #buffer = new ReadBuffer();
  #tree: ProcessTree | null = null;
  #errors = "";
  #closed = false;

  constructor(config: Extract<McpServerConfig, { command: string }>, folder: string, processes: ProcessTrees) {
    this.#config = config;
    this.#folder = folder;
    this.#processes = processes;
  }

  /** The last lines of its error output: what a person needs to see when it fails. */
  get errors(): string {
    return this.#errors.trim();
  }

  get pid(): number | undefined {
    return this.#tree?.pid;
  }

  async start(): Promise<void> {
    const { command, args = [], env = {}, cwd = this.#folder } = this.#config;
    const tree = await this.#processes.start(command, args, {
      cwd,
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#tree = tree;
    const { stdin, stdout, stderr } = tree.child;
    stdin?.on("error", (error) => this.onerror?.(error));
    stdout?.on("data", (chunk: Buffer) => this.#receive(chunk));
    stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#errors = (this.#errors + chunk).slice(-limits.mcpErrorTailCharacters);
    });
    tree.child.once("close", () => this.#end());
    void tree.exited.then(() => this.#end());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#tree?.child.stdin;
    if (this.#closed || !stdin?.writable) throw new Error("The MCP server is not running.");
    if (stdin.write(serializeMessage(message))) return;
    await new Promise<void>((resolve) => {
      stdin.once("drain", resolve);
      stdin.once("close", resolve);
    });
  }

  async close(): Promise<void> {
    // A server that ends when its input ends does so now; all others are ended with their tree.
    this.#tree?.child.stdin?.end();
    await this.#tree?.kill();
    this.#end();
  }

  #receive(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
      for (let message = this.#next(); message; message = this.#next()) this.onmessage?.(message);
    } catch (cause) {
      this.onerror?.(cause instanceof Error ? cause : new Error(String(cause)));
      void this.close();
    }
  }

  /** Lines that are no messages (servers print to the wrong stream) are passed over. */
  #next(): JSONRPCMessage | null {
    for (;;) {
      try {
        return this.#buffer.readMessage();
      } catch (cause) {
        this.onerror?.(cause instanceof Error ? cause : new Error(String(cause)));
      }
    }
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#buffer.clear();
    this.onclose?.();
  }
}
