import type { ExecClientMessage, ExecServerMessage, ToolCall } from "@keyturn/protocol/agent";
import type { Json } from "../run/ids.js";

/** What a model is told about one tool. */
export interface ToolDescriptor {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments object. */
  readonly parameters: Json;
}

/** How one MCP or custom tool of the client is called under a name every provider accepts (I-68, I-104). */
export interface McpRoute {
  /** Function name shown to the model: at most 64 of `[a-zA-Z0-9_-]`, unique among the routes. */
  readonly alias: string;
  /** `providerIdentifier` of the definition. */
  readonly server: string;
  readonly toolName: string;
  /** `McpToolDefinition.name` as the client lists it; the client resolves MCP servers' tools by it. */
  readonly clientName: string;
  readonly description?: string;
  readonly inputSchema: Json;
}

/** One entry of the conversation's to-do list. */
export interface TodoState {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed" | "cancelled";
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Facts of the run that a tool may use. */
export interface ToolContext {
  /** First workspace path (absolute, in the client's OS), null when unknown. */
  readonly workspace: string | null;
  readonly workspaces: readonly string[];
  readonly mode: "agent" | "ask" | "plan" | "debug";
  readonly mcpRoutes: readonly McpRoute[];
  readonly todos: readonly TodoState[];
  /** Milliseconds, from the record that caused this step; never the clock. */
  readonly now: number;
}

/** One tool call of the model. */
export interface Invocation {
  readonly callId: string;
  readonly name: string;
  /** The parsed arguments: a JSON object. */
  readonly args: Json;
}

/** The oneof of an exec message, e.g. `{ case: "readArgs", value }`. */
export type ExecArgs = ExecServerMessage["message"];

/** One execution a tool asks the client for. */
export interface ExecRequest {
  /** Unique within the call, e.g. "read", "write", "path-0". */
  readonly key: string;
  readonly args: ExecArgs;
}

/** Output of a shell stream, already bounded to head and tail by the core. */
export interface CapturedOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly interleaved: string;
  /** Bytes that were dropped between head and tail. */
  readonly omittedBytes: number;
}

/** How an execution ended. */
export type ExecOutcome =
  /** The terminal message (for shell streams: exit, backgrounded, rejected, permissionDenied, sandboxUnsupported). */
  | { readonly key: string; readonly how: "answered"; readonly message: ExecClientMessage }
  | { readonly key: string; readonly how: "thrown"; readonly error: string }
  /** The stream was closed with no result. */
  | { readonly key: string; readonly how: "closed" }
  /** The liveness deadline passed. */
  | { readonly key: string; readonly how: "silent" }
  | { readonly key: string; readonly how: "aborted" };

/** An outcome together with what was captured on the way. */
export interface ExecReport {
  readonly outcome: ExecOutcome;
  /** Only for shell streams. */
  readonly output?: CapturedOutput;
}

/** What happens next in a call. */
export type Move =
  | { readonly kind: "run"; readonly executions: readonly ExecRequest[] }
  | { readonly kind: "finish"; readonly result: ToolResult };

/** An image a tool hands to models that can see. */
export interface ToolImage {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The end of a call. */
export interface ToolResult {
  /** What the model reads. */
  readonly text: string;
  readonly isError: boolean;
  /** What the user interface shows: arguments and result, for failures too. */
  readonly toolCall: ToolCall;
  readonly images?: readonly ToolImage[];
  /** The to-do list after the call, when the call changed it. */
  readonly todos?: readonly TodoState[];
}

/** One tool: a pure description of what to ask the client and how to read its answers. */
export interface Tool {
  readonly name: string;
  describe(context: ToolContext): ToolDescriptor;
  /** The ToolCall message (arguments only) for `tool_call_started`. */
  started(invocation: Invocation, context: ToolContext): ToolCall;
  /** First move. Bad arguments finish at once with an error the model can act on. */
  begin(invocation: Invocation, context: ToolContext): Move;
  /**
   * Called when every execution asked so far has an outcome; gets all reports of the call in the order asked
   * (over all steps), so a tool of several steps is a pure function of its reports.
   */
  proceed(invocation: Invocation, context: ToolContext, reports: readonly ExecReport[]): Move;
  /** False for messages that do not end their execution (output of a shell stream). Absent: every message ends it. */
  isTerminal?(message: ExecClientMessage): boolean;
  /**
   * Two open calls with the same lock run one after the other (writes to one path). Give the context, so that
   * relative and absolute spellings of a path meet.
   */
  lock?(invocation: Invocation, context?: ToolContext): string | undefined;
  /** The ToolCall with an error result, for failures outside the tool (unknown outcome, cancelled). */
  failed(invocation: Invocation, context: ToolContext, message: string): ToolCall;
}
