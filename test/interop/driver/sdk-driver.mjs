// Drives the unmodified SDK for the interop tests. Reads commands as JSON lines on stdin, writes replies and events as JSON
// lines on stdout. The SDK's configuration is global and a bad server can crash its process: one process a scenario. The
// program that loads this lies in the folder where the SDK is installed, as a user's would, and hands the SDK in.
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { emit } from "./emit.mjs";

const apiKey = process.env.KEYTURN_INTEROP_API_KEY;
const agents = new Map();
const runs = new Map();
let sdk;
let store;

const commands = {
  configure({ storeDir, useHttp1 }) {
    store = new sdk.JsonlLocalAgentStore(storeDir);
    sdk.Cursor.configure({ local: { store, ...(useHttp1 ? { useHttp1ForAgent: true } : {}) } });
  },

  listModels: () => sdk.Cursor.models.list({ apiKey }),

  me: () => sdk.Cursor.me({ apiKey }),

  async createAgent({ options }) {
    return remember(await sdk.Agent.create(agentOptions(options)));
  },

  async resumeAgent({ agentId, options }) {
    return remember(await sdk.Agent.resume(agentId, agentOptions(options)));
  },

  async send({ agentId, text, options = {} }) {
    const run = await agents.get(agentId).send(text, { ...options, onDelta: ({ update }) => reportDelta(update) });
    runs.set(run.id, run);
    void follow(run);
    return { runId: run.id, requestId: run.requestId };
  },

  async cancel({ runId }) {
    const calledAt = Date.now();
    await cancel(runs.get(runId));
    return { calledAt, returnedAt: Date.now() };
  },

  conversation: ({ runId }) => runs.get(runId).conversation(),

  messages: ({ agentId, cwd }) => sdk.Agent.messages.list(agentId, { runtime: "local", cwd, store }),

  async exit() {
    for (const agent of agents.values()) await agent[Symbol.asyncDispose]();
  },
};

/** The SDK's file store does not find a run while it writes the file anew, which a caller can only answer by asking again. */
async function cancel(run, attempts = 5) {
  try {
    await run.cancel();
  } catch (error) {
    if (attempts <= 1 || !/not found/.test(error?.message)) throw error;
    await cancel(run, attempts - 1);
  }
}

function remember(agent) {
  agents.set(agent.agentId, agent);
  return { agentId: agent.agentId };
}

function agentOptions({ cwd, settingSources, customTools, ...rest }) {
  const tools = Object.entries(customTools ?? {}).map(([name, tool]) => [name, customTool(name, tool)]);
  const local = { cwd, ...(settingSources ? { settingSources } : {}), store };
  return { apiKey, ...rest, local: tools.length > 0 ? { ...local, customTools: Object.fromEntries(tools) } : local };
}

/** A custom tool that runs here: reports its call and answers what the test said. */
function customTool(name, { description, inputSchema, answer, delayMs, throws }) {
  return {
    description,
    inputSchema,
    async execute(args) {
      emit({ event: "custom-tool", name, args, pid: process.pid });
      if (delayMs) await delay(delayMs);
      if (throws) throw new Error(throws);
      return answer;
    },
  };
}

function reportDelta(update) {
  emit({ event: "delta", update });
}

/** Reads a run's stream to its end and reports what `wait` then says. */
async function follow(run) {
  try {
    for await (const message of run.stream()) emit({ event: "message", runId: run.id, message });
  } catch (error) {
    emit({ event: "stream-failed", runId: run.id, error: describe(error) });
  }
  try {
    emit({ event: "run-ended", runId: run.id, result: await run.wait() });
  } catch (error) {
    emit({ event: "run-ended", runId: run.id, error: describe(error) });
  }
}

function describe(error) {
  return { name: error?.name ?? "Error", message: error?.message ?? String(error), code: error?.code };
}

async function execute({ id, command, ...parameters }) {
  try {
    emit({ event: "reply", id, value: (await commands[command](parameters)) ?? null });
  } catch (error) {
    emit({ event: "reply", id, error: describe(error) });
  }
  if (command === "exit") process.exit(0);
}

/** Takes commands until the input ends. */
export async function drive(installedSdk) {
  sdk = installedSdk;
  emit({ event: "ready", pid: process.pid, node: process.versions.node });
  for await (const line of createInterface({ input: process.stdin })) void execute(JSON.parse(line));
  process.exit(0);
}
