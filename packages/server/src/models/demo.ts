import type { HistoryMessage, ToolResultPart } from "../run/history.js";
import type { Json } from "../run/ids.js";
import { estimateOutputTokens, estimatePromptTokens } from "./estimate.js";
import type { ModelEvent, ModelInfo, ModelRequest } from "./port.js";

/** The built-in model: a script that needs no key and no network, and says so. */
export const demoModel: ModelInfo = {
  id: "demo",
  displayName: "Keyturn demo (scripted, no model)",
  description: "A fixed script that shows a whole turn with your own tools. No model is called.",
  provider: "demo",
  providerType: "demo",
  model: "demo",
  contextWindow: 128_000,
  maxOutputTokens: 4_096,
  aliases: [],
  parameters: [],
  vision: false,
};

const noteName = "keyturn-demo.md";

interface Scene {
  /** Tool to call, by the name it is offered under. */
  readonly tool: string;
  readonly say: string;
  args(stage: Stage): { readonly [key: string]: Json | undefined } | undefined;
}

/** What the script knows: everything comes from the messages, nothing is kept between passes. */
interface Stage {
  readonly workspace: string;
  readonly results: readonly ToolResultPart[];
}

const scenes: readonly Scene[] = [
  {
    tool: "Ls",
    say: "I am Keyturn's demo script, not a model. I will show you one turn: first I look at your workspace.",
    args: ({ workspace }) => ({ path: workspace }),
  },
  {
    tool: "Read",
    say: "Next I read one file of it.",
    args: ({ workspace, results }) => {
      const listing = results.find((result) => result.toolName === "Ls" && !result.isError)?.result ?? "";
      const name = fileToRead(listing, workspace);
      return name === undefined ? undefined : { path: joinPath(workspace, name) };
    },
  },
  {
    tool: "Write",
    say: `Now I write a small note, ${noteName}.`,
    args: ({ workspace }) => ({ path: joinPath(workspace, noteName), contents: note }),
  },
  {
    tool: "Shell",
    say: "And I run one harmless command.",
    args: ({ workspace }) => ({
      command: workspace.includes("\\") ? "echo Keyturn demo" : `ls -l ${noteName}`,
      working_directory: workspace,
      description: "Show the note the demo wrote",
    }),
  },
];

const note = [
  "# Keyturn demo",
  "",
  "This file was written by Keyturn's built-in demo script. No model was involved.",
  "Configure a provider (for example OPENAI_API_KEY) to run a real one. You can delete this file.",
  "",
].join("\n");

/** One pass of the script. Stateless: the place in it is counted from the results after the last user message. */
export async function* streamDemo(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted();
  const { text, call } = nextStep(request);
  let output = text;
  for (const piece of pieces(text)) {
    yield { kind: "text-delta", text: piece };
    signal.throwIfAborted();
  }
  yield { kind: "text-ended" };
  if (call) {
    const args = JSON.stringify(call.args);
    output += args;
    yield { kind: "call-started", index: 0, name: call.name };
    yield { kind: "call-delta", index: 0, argsDelta: args };
    yield { kind: "call", index: 0, name: call.name, args, complete: true };
  }
  yield {
    kind: "ended",
    reason: call ? "tool-calls" : "stop",
    usage: {
      inputTokens: estimatePromptTokens(request),
      outputTokens: estimateOutputTokens(output.length),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      estimated: true,
    },
  };
}

interface Step {
  readonly text: string;
  readonly call?: { readonly name: string; readonly args: Json };
}

function nextStep(request: ModelRequest): Step {
  const workspace = findWorkspace(request.messages);
  const results = resultsOfTurn(request.messages);
  const last = results.at(-1);
  const remarks = last?.isError ? [`${last.toolName} failed, so I go on without it.`] : [];
  const doneUpTo = scenes.findIndex((scene) => scene.tool === last?.toolName) + 1;
  if (workspace === undefined) return { text: [...remarks, "No workspace was named.", summary(results)].join(" ") };
  for (const scene of scenes.slice(doneUpTo)) {
    if (!request.tools.some((tool) => tool.name === scene.tool)) {
      remarks.push(`The tool ${scene.tool} is not offered, so I skip it.`);
      continue;
    }
    const args = scene.args({ workspace, results });
    if (args === undefined) {
      remarks.push("I saw no text file to read, so I skip that.");
      continue;
    }
    return { text: [...remarks, scene.say].join(" "), call: { name: scene.tool, args } };
  }
  return { text: [...remarks, summary(results)].join(" ") };
}

function summary(results: readonly ToolResultPart[]): string {
  const worked = results.filter((result) => !result.isError).map((result) => result.toolName);
  const did =
    worked.length === 0 ? "No tool ran" : `These tools ran on your machine, through your client: ${worked.join(", ")}`;
  return (
    `That was the whole turn. ${did}. I am a fixed script, not a model: I did not read your message. ` +
    "Give Keyturn a provider key (for example OPENAI_API_KEY or ANTHROPIC_API_KEY) and choose its model to get real answers."
  );
}

function resultsOfTurn(messages: readonly HistoryMessage[]): ToolResultPart[] {
  const start = messages.findLastIndex((message) => message.role === "user") + 1;
  return messages.slice(start).flatMap((message) => (message.role === "tool" ? [...message.content] : []));
}

function findWorkspace(messages: readonly HistoryMessage[]): string | undefined {
  for (const message of messages) {
    const texts =
      message.role === "system"
        ? [message.content]
        : message.role === "user"
          ? message.content.map((part) => (part.type === "text" ? part.text : ""))
          : [];
    for (const text of texts) {
      const path = /^[ \t]*Workspace:[ \t]*(\S.*?)[ \t]*$/m.exec(text)?.[1];
      if (path !== undefined) return path;
    }
  }
  return undefined;
}

/** A README, else the first name that looks like a small text file; our own note only when nothing else is there. */
function fileToRead(listing: string, workspace: string): string | undefined {
  const names = [...listing.matchAll(/[\w.@()+-]+\.(?:md|txt|json|ya?ml|toml|ts|js|py|go|rs)\b/gi)]
    .map((match) => ({ name: match[0], before: listing.charAt(match.index - 1) }))
    // Names below a folder are left out: only direct children of the workspace are sure to be found.
    .filter(({ name, before }) => (before !== "/" && before !== "\\") || listing.includes(joinPath(workspace, name)))
    .map(({ name }) => name);
  const bySuitability = [
    names.find((name) => /^readme\./i.test(name)),
    names.find((name) => name !== noteName && !/lock/i.test(name)),
    names.find((name) => name === noteName),
  ];
  return bySuitability.find((name) => name !== undefined);
}

/** Joins with the separator the workspace itself uses: the client's system, not ours. */
function joinPath(workspace: string, name: string): string {
  const separator = workspace.includes("\\") ? "\\" : "/";
  return workspace.endsWith(separator) ? workspace + name : workspace + separator + name;
}

function pieces(text: string): string[] {
  return text.match(/(?:\S+\s*){1,4}/g) ?? [text];
}
