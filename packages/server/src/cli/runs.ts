import { withStoreOrServer } from "./store-or-server.js";
import { type CommonOptions, print, type Terminal, table } from "./terminal.js";

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
