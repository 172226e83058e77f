import type { Conversation, LocalAgent, TurnUsage } from "@keyturn/client";
import type { AgentMode } from "@keyturn/protocol/agent";
import { modeOf, modes } from "./modes.js";
import type { OpenedServer } from "./open-server.js";

/** What a chat is at the moment. */
export interface ChatState {
  conversation: Conversation;
  model: string | undefined;
  mode: AgentMode | undefined;
  readonly used: TurnUsage[];
}

/** What a line starting with a slash leads to. */
export type CommandResult =
  | { readonly kind: "said"; readonly lines: readonly string[] }
  /** A message to the agent. */
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "leave" };

/** What commands work with. */
export interface CommandServices {
  readonly opened: OpenedServer;
  readonly agent: LocalAgent;
}

const help = [
  "/model [id]     the models of the server, or the one to use from now on",
  "/mode [name]    the mode: agent, ask, plan, debug",
  "/plan [text]    plan mode from now on, with a first message if there is text",
  "/compact        make the conversation shorter",
  "/cost           tokens used in this chat",
  "/fork           go on in a copy; the conversation so far stays as it is",
  "/help           this list",
  "/exit           leave (also Ctrl-D)",
  "Ctrl-C interrupts a turn; at the prompt it leaves.",
];

/** Carries out a command. Never rejects: what goes wrong is said. */
export async function runCommand(line: string, state: ChatState, services: CommandServices): Promise<CommandResult> {
  const [name = "", ...words] = line.slice(1).trim().split(/\s+/);
  const rest = words.join(" ");
  switch (name) {
    case "model":
      return said(rest === "" ? await listModels(state, services.opened) : [choose(state, rest)]);
    case "mode":
      return said([chooseMode(state, rest)]);
    case "plan":
      state.mode = modes.plan;
      return rest === "" ? said(["mode: plan"]) : { kind: "message", text: line.slice(line.indexOf(words[0] ?? "")) };
    case "compact":
      return said(["The server cannot compact a conversation on demand yet. A new chat starts with an empty one."]);
    case "cost":
      return said(cost(state.used));
    case "fork":
      return said(await fork(state));
    case "help":
      return said(help);
    case "exit":
    case "quit":
      return { kind: "leave" };
    default:
      return said([`There is no command /${name}. /help lists them.`]);
  }
}

function said(lines: readonly string[]): CommandResult {
  return { kind: "said", lines };
}

function choose(state: ChatState, id: string): string {
  state.model = id;
  return `model: ${id}`;
}

function chooseMode(state: ChatState, name: string): string {
  const mode = modeOf(name);
  if (mode === undefined) return `modes: ${Object.keys(modes).join(", ")}`;
  state.mode = mode;
  return `mode: ${name}`;
}

async function listModels(state: ChatState, { server, apiKey }: OpenedServer): Promise<string[]> {
  try {
    const response = await fetch(`${server.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
    const { items } = (await response.json()) as { items: { id: string; displayName: string }[] };
    const current = state.model ?? state.conversation.stored.model ?? "default";
    return [
      `now: ${current}`,
      ...items.map(({ id, displayName }) => (id === displayName ? id : `${id}  (${displayName})`)),
    ];
  } catch {
    return ["The models of the server could not be read."];
  }
}

async function fork(state: ChatState): Promise<string[]> {
  try {
    const former = state.conversation.stored.id;
    state.conversation = await state.conversation.fork();
    return [`Now in the copy ${state.conversation.stored.id}; --conversation ${former} goes back.`];
  } catch (cause) {
    return [`The copy could not be stored: ${cause instanceof Error ? cause.message : String(cause)}`];
  }
}

function cost(used: readonly TurnUsage[]): string[] {
  const sum = (field: keyof TurnUsage) => used.reduce((total, usage) => total + usage[field], 0);
  return [
    `${used.length} turns: ${sum("inputTokens")} tokens in, ${sum("cacheReadTokens")} from the cache, ` +
      `${sum("cacheWriteTokens")} to the cache, ${sum("outputTokens")} out. The server does not tell prices.`,
  ];
}
