import { describeRun, foldRun, lookUpRun, type RunDetails } from "../engine/run-details.js";
import { withStoreOrServer } from "./store-or-server.js";
import { CliError, type CommonOptions, print, type Terminal, table } from "./terminal.js";

interface ListedRun {
  readonly requestId: string;
  readonly generation: number;
  readonly conversationId: string | null;
  readonly phase: string;
  readonly createdAt: string;
}

/** `runs list`: the live runs of the running server, or without one the runs in the log; newest first. */
export async function listRuns(terminal: Terminal, options: CommonOptions & { readonly limit: number }): Promise<void> {
  const found = await withStoreOrServer<readonly ListedRun[]>(terminal, options, {
    store: async (store) =>
      (await store.log.listRuns({ limit: options.limit })).map(({ key, conversationId, ended, createdAt }) => ({
        ...key,
        conversationId,
        phase: ended ? "ended" : "interrupted",
        createdAt: new Date(createdAt).toISOString(),
      })),
    server: async (ask) => ((await ask("GET", "/api/v1/runs")) as { items: ListedRun[] }).items,
  });
  const items = found.slice(0, options.limit);
  const rows = items.map((run) => [run.requestId, run.phase, run.createdAt, run.conversationId ?? "-"]);
  print(terminal, options, { items }, table([["REQUEST", "PHASE", "CREATED", "CONVERSATION"], ...rows]));
}

/** `runs show`: where a run stands, of the running server's runs or without one from the log. */
export async function showRun(terminal: Terminal, options: CommonOptions, id: string): Promise<void> {
  const run = await withStoreOrServer<RunDetails & { readonly subscribers?: number }>(terminal, options, {
    store: async ({ log }) => {
      const row = await lookUpRun(log, id);
      if (!row) throw new CliError(noSuchRun(id));
      return describeRun(await foldRun(log, row));
    },
    server: async (ask) => (await ask("GET", `/api/v1/runs/${encodeURIComponent(id)}`)) as RunDetails,
  });
  print(terminal, options, run, detailLines(run));
}

/** `runs cancel`: ends a live run of the running server as if its user had. */
export async function cancelRun(terminal: Terminal, options: CommonOptions, id: string): Promise<void> {
  await withStoreOrServer(terminal, options, {
    store: async ({ log }) => {
      const row = await lookUpRun(log, id);
      if (!row) throw new CliError(noSuchRun(id));
      if (row.ended) throw new CliError("the run has ended already");
      throw new CliError("no server is running; the next one takes the run over, cancel it there");
    },
    server: async (ask) => void (await ask("POST", `/api/v1/runs/${encodeURIComponent(id)}/cancel`)),
  });
  print(terminal, options, { requestId: id, canceled: true }, [`canceled ${id}`]);
}

/** What is said of a name that no run has. */
export function noSuchRun(id: string): string {
  return `there is no run ${id}; ended runs are deleted after store.retentionMs`;
}

function detailLines(run: RunDetails & { readonly subscribers?: number }): string[] {
  const { outcome, usage } = run;
  const end =
    outcome && (outcome.kind === "completed" ? outcome.kind : `${outcome.fault.title}: ${outcome.fault.detail}`);
  const facts: [string, string | number | null | undefined][] = [
    ["request", run.requestId],
    ["generation", run.generation],
    ["conversation", run.conversationId],
    ["model", run.model],
    ["phase", `${run.phase}, since ${run.since}`],
    ["outcome", end],
    ["created", run.createdAt],
    ["records", run.position],
    ["passes", run.passes],
    ["takeovers", run.takeovers],
    ["subscribers", run.subscribers],
    ["tokens", `${usage.inputTokens} in, ${usage.outputTokens} out`],
    ...run.calls.map((call): [string, string] => ["call", `${call.name} (${call.callId}): ${call.status}`]),
    ...run.openExecutions.map((exec): [string, string] => ["waits for", `${exec.execId} since ${exec.since}`]),
  ];
  return facts.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name.padEnd(14)}${value}`],
  );
}
