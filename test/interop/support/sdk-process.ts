import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { InstalledSdk } from "./install-sdk.js";
import type {
  SdkAgentOptions,
  SdkError,
  SdkEvent,
  SdkEventOf,
  SdkMessage,
  SdkRunResult,
  SdkToolCall,
} from "./sdk-events.js";

const driver = new URL("../driver/sdk-driver.mjs", import.meta.url).href;
const observer = new URL("../driver/observe.mjs", import.meta.url).href;

/** How the SDK is told to reach the server. */
export interface SdkProcessOptions {
  readonly sdk: InstalledSdk;
  readonly url: string;
  readonly apiKey: string;
  /** Home folder of the process; the SDK keeps project folders below it. */
  readonly home: string;
  /** Where the SDK keeps its agents; outlives the process. */
  readonly storeDir: string;
  readonly useHttp1: boolean;
}

/** A call that the SDK refused. */
export class SdkCallFailed extends Error {
  override readonly name = "SdkCallFailed";

  constructor(readonly error: SdkError) {
    super(`${error.name}: ${error.message}`);
  }
}

/** A process with the unmodified SDK in it, driven by commands; every event of it is kept in order. */
export class SdkProcess {
  readonly events: SdkEvent[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #watchers = new Set<() => void>();
  readonly #exited: Promise<void>;
  #errorOutput = "";
  #exit: string | undefined;
  #lastId = 0;

  private constructor({ sdk, url, apiKey, home }: SdkProcessOptions) {
    this.#child = spawn(sdk.node, ["--import", observer, sdk.program], {
      cwd: home,
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        CURSOR_BACKEND_URL: url,
        CURSOR_API_BASE_URL: url,
        KEYTURN_INTEROP_DRIVER: driver,
        KEYTURN_INTEROP_API_KEY: apiKey,
      },
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errorOutput = (this.#errorOutput + text).slice(-20_000);
    });
    const lines = createInterface({ input: this.#child.stdout });
    lines.on("line", (line) => this.#receive(line));
    this.#exited = new Promise((resolve) => {
      this.#child.on("close", (code, signal) => {
        this.#exit = signal ?? String(code);
        this.#wake();
        resolve();
      });
    });
  }

  /** Starts a process and configures the SDK in it. */
  static async start(options: SdkProcessOptions): Promise<SdkProcess> {
    const started = new SdkProcess(options);
    await started.waitFor("ready");
    await started.#call("configure", { storeDir: options.storeDir, useHttp1: options.useHttp1 });
    return started;
  }

  listModels(): Promise<{ id: string; displayName: string; aliases?: string[]; parameters?: { id: string }[] }[]> {
    return this.#call("listModels");
  }

  me(): Promise<{ apiKeyName: string }> {
    return this.#call("me");
  }

  async createAgent(options: SdkAgentOptions): Promise<string> {
    return (await this.#call<{ agentId: string }>("createAgent", { options })).agentId;
  }

  async resumeAgent(agentId: string, options: SdkAgentOptions): Promise<string> {
    return (await this.#call<{ agentId: string }>("resumeAgent", { agentId, options })).agentId;
  }

  /** Sends a message and resolves as soon as the run exists. */
  async send(agentId: string, text: string, options: { mode?: "agent" | "plan" } = {}): Promise<SdkRun> {
    const { runId } = await this.#call<{ runId: string }>("send", { agentId, text, options });
    return new SdkRun(this, runId);
  }

  /** Sends a message and resolves with the run once it has ended. */
  async complete(agentId: string, text: string, options: { mode?: "agent" | "plan" } = {}): Promise<SdkRun> {
    const run = await this.send(agentId, text, options);
    await run.ended();
    return run;
  }

  cancel(runId: string): Promise<{ calledAt: number; returnedAt: number }> {
    return this.#call("cancel", { runId });
  }

  conversation(runId: string): Promise<unknown[]> {
    return this.#call("conversation", { runId });
  }

  messages(agentId: string, cwd: string): Promise<{ type: string; message: unknown }[]> {
    return this.#call("messages", { agentId, cwd });
  }

  /** The first event of a kind that is as wanted, past or to come. Rejects when the process ends before. */
  async waitFor<Kind extends SdkEvent["event"]>(
    kind: Kind,
    isWanted: (event: SdkEventOf<Kind>) => boolean = () => true,
  ): Promise<SdkEventOf<Kind>> {
    for (;;) {
      const found = this.of(kind).find(isWanted);
      if (found) return found;
      if (this.#exit !== undefined) throw new Error(`The SDK's process ended (${this.#exit}).\n${this.#errorOutput}`);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  /** All events of a kind so far. */
  of<Kind extends SdkEvent["event"]>(kind: Kind): SdkEventOf<Kind>[] {
    return this.events.filter((event): event is SdkEventOf<Kind> => event.event === kind);
  }

  /** Ends the process as a program that is done would, by force after a while. Never rejects. */
  async close(): Promise<void> {
    if (this.#exit === undefined)
      this.#child.stdin.write(`${JSON.stringify({ id: ++this.#lastId, command: "exit" })}\n`);
    const force = setTimeout(() => this.#child.kill("SIGKILL"), 5_000);
    await this.#exited;
    clearTimeout(force);
  }

  /** What went wrong in the process that no caller of the SDK could have caught. */
  faults(): string[] {
    const reported = this.of("fault").map(({ kind, text }) => `${kind}: ${text}`);
    const hasDied = this.#exit !== undefined && this.#exit !== "0";
    return hasDied ? [...reported, `exit ${this.#exit}: ${this.#errorOutput}`] : reported;
  }

  async #call<Value = null>(command: string, parameters: object = {}): Promise<Value> {
    const id = ++this.#lastId;
    this.#child.stdin.write(`${JSON.stringify({ id, command, ...parameters })}\n`);
    const reply = await this.waitFor("reply", (event) => event.id === id);
    if (reply.error) throw new SdkCallFailed(reply.error);
    return reply.value as Value;
  }

  #receive(line: string): void {
    if (!line.startsWith("{")) return;
    this.events.push(JSON.parse(line) as SdkEvent);
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#watchers];
    this.#watchers.clear();
    for (const wake of waiting) wake();
  }
}

/** One run of an agent, as its caller sees it. */
export class SdkRun {
  constructor(
    private readonly sdk: SdkProcess,
    readonly id: string,
  ) {}

  /** Resolves with what `run.wait()` says. */
  async ended(): Promise<SdkRunResult & { readonly at: number }> {
    const { result, error, at } = await this.sdk.waitFor("run-ended", ({ runId }) => runId === this.id);
    if (error) throw new SdkCallFailed(error);
    if (!result) throw new Error("A run ended without a result");
    return { ...result, at };
  }

  /** The messages of `run.stream()` so far. */
  messages(): SdkMessage[] {
    return this.sdk.of("message").flatMap(({ runId, message }) => (runId === this.id ? [message] : []));
  }

  /** The text of `run.stream()` so far. */
  text(): string {
    return this.messages()
      .flatMap((message) => (message.type === "assistant" ? message.message.content : []))
      .map(({ text }) => text ?? "")
      .join("");
  }

  /** The tool events of `run.stream()` so far. */
  toolCalls(status?: SdkToolCall["status"]): SdkToolCall[] {
    return this.messages().flatMap((message) =>
      message.type === "tool_call" && (status === undefined || message.status === status) ? [message] : [],
    );
  }

  /** Resolves with the time at which a message that is as wanted has come. */
  async sees(isWanted: (message: SdkMessage) => boolean): Promise<number> {
    const { at } = await this.sdk.waitFor("message", ({ runId, message }) => runId === this.id && isWanted(message));
    return at;
  }
}
