import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AgentServer,
  allowEverything,
  type ConnectOptions,
  FileStore,
  LocalAgent,
  type LocalAgentOptions,
  type RunOutcome,
  type Session,
  type SessionEvent,
} from "@keyturn/client";
import type { InteractionUpdate } from "@keyturn/protocol/agent";

/** A client of its own on this machine: workspace, store and hands. */
export interface TestClient extends AsyncDisposable {
  readonly agent: LocalAgent;
  readonly store: FileStore;
  readonly workspace: string;
}

/** Opens a client for a server. It comes back at once when a connection breaks. */
export async function openClient(
  address: ConnectOptions,
  more: Partial<LocalAgentOptions> & { readonly folder?: string } = {},
): Promise<TestClient> {
  // First, so that nothing is left behind when it fails.
  const server = await AgentServer.connect(address);
  const folder = more.folder ?? (await mkdtemp(join(tmpdir(), "keyturn-client-")));
  const workspace = more.workspace ?? (await mkdtemp(join(tmpdir(), "keyturn-work-")));
  const store = await FileStore.open(folder);
  const options = { store, server, workspace, dataFolder: folder, policy: allowEverything, random: () => 0, ...more };
  const agent = await LocalAgent.open(options);
  return {
    agent,
    store,
    workspace,
    async [Symbol.asyncDispose]() {
      await agent.close();
      server.close();
      if (more.workspace === undefined)
        await rm(workspace, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
      if (more.folder === undefined)
        await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** Everything one turn has shown. */
export interface ShownTurn {
  readonly outcome: RunOutcome;
  readonly text: string;
  /** Kinds of completed tool calls, in order. */
  readonly tools: readonly string[];
  readonly events: readonly SessionEvent[];
  /** How often the connection came back. */
  readonly returns: number;
}

/** Reads a session to its end. `onMessage` hears of every message, by its number from 1. */
export async function readTurn(
  session: Session,
  onMessage?: (count: number, event: SessionEvent) => unknown,
): Promise<ShownTurn> {
  const events: SessionEvent[] = [];
  let count = 0;
  for await (const event of session) {
    events.push(event);
    if (event.kind === "message") await onMessage?.(++count, event);
  }
  const updates = events.flatMap((event) => updateOf(event) ?? []);
  return {
    outcome: await session.outcome,
    text: updates.map((update) => (update.case === "textDelta" ? update.value.text : "")).join(""),
    tools: updates.flatMap((update) =>
      update.case === "toolCallCompleted" ? (update.value.toolCall?.tool.case ?? "none") : [],
    ),
    events,
    returns: events.filter((event) => event.kind === "connected" && event.isAgain).length,
  };
}

/** The interaction update of an event, if it holds one. */
export function updateOf(event: SessionEvent): InteractionUpdate["message"] | undefined {
  if (event.kind !== "message" || event.message.message.case !== "interactionUpdate") return undefined;
  return event.message.message.value.message;
}
