/** How an error of the SDK looks to its caller. */
export interface SdkError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** The messages of `run.stream()` that the scenarios look at. */
export type SdkMessage =
  | { readonly type: "assistant"; readonly message: { readonly content: readonly { type: string; text?: string }[] } }
  | { readonly type: "user"; readonly message: { readonly content: readonly { type: string; text?: string }[] } }
  | {
      readonly type: "tool_call";
      readonly call_id: string;
      readonly name: string;
      readonly status: "running" | "completed" | "error";
      readonly args?: unknown;
      readonly result?: unknown;
    }
  | { readonly type: "thinking"; readonly text: string; readonly thinking_duration_ms?: number }
  | { readonly type: "status"; readonly status: string; readonly message?: string }
  | { readonly type: "system" | "request" | "task" };

/** What `run.wait()` answers. */
export interface SdkRunResult {
  readonly status: "finished" | "error" | "cancelled";
  readonly result?: string;
  readonly requestId?: string;
}

/** A line of the driver. `at` is the wall clock in milliseconds, the same clock as the test's. */
export type SdkEvent = { readonly at: number } & (
  | { readonly event: "ready"; readonly pid: number; readonly node: string }
  | { readonly event: "reply"; readonly id: number; readonly value?: unknown; readonly error?: SdkError }
  | { readonly event: "message"; readonly runId: string; readonly message: SdkMessage }
  | { readonly event: "delta"; readonly update: { readonly type: string; readonly [field: string]: unknown } }
  | { readonly event: "stream-failed"; readonly runId: string; readonly error: SdkError }
  | { readonly event: "run-ended"; readonly runId: string; readonly result?: SdkRunResult; readonly error?: SdkError }
  | { readonly event: "custom-tool"; readonly name: string; readonly args: unknown; readonly pid: number }
  | { readonly event: "http2-session"; readonly authority: string }
  | { readonly event: "fault"; readonly kind: string; readonly text: string }
);

/** The event of one kind. */
export type SdkEventOf<Kind extends SdkEvent["event"]> = Extract<SdkEvent, { event: Kind }>;

/** The tool events of a run, in order. */
export type SdkToolCall = Extract<SdkMessage, { type: "tool_call" }>;

/** A server for the SDK to start, as a caller writes it. */
export interface StdioMcpServer {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A tool that runs in the SDK's process and answers a fixed value. */
export interface CustomTool {
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly answer?: unknown;
  readonly delayMs?: number;
  readonly throws?: string;
}

/** What an agent is created or resumed with. */
export interface SdkAgentOptions {
  readonly model?: { readonly id: string; readonly params?: readonly { id: string; value: string }[] };
  readonly cwd: string;
  readonly mode?: "agent" | "plan";
  readonly settingSources?: readonly string[];
  readonly mcpServers?: Readonly<Record<string, StdioMcpServer>>;
  readonly customTools?: Readonly<Record<string, CustomTool>>;
}
