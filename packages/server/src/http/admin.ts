import type { RunHost } from "../engine/host.js";
import { describeRun, foldRun, lookUpRun, type RunLookup } from "../engine/run-details.js";
import { BodyReader } from "../rpc/read-body.js";
import { fault } from "../run/faults.js";
import { runName } from "../run/ids.js";
import type { KeyStore } from "../store/port.js";
import type { ApiKeys } from "./api-keys.js";
import { errorBody, type Routes } from "./routes.js";

/** What the admin API needs. */
export interface AdminServices {
  readonly host: Pick<RunHost, "list" | "cancel">;
  readonly log: RunLookup;
  readonly keys: Pick<ApiKeys, "create" | "revoke">;
  readonly keyStore: Pick<KeyStore, "all">;
}

const maxBodyBytes = 64 * 1024;

/** The admin API under `/api/v1`: what the dashboard and the command line ask a running server. */
export function adminRoutes({ host, log, keys, keyStore }: AdminServices): Routes {
  const bodies = new BodyReader(maxBodyBytes * 16);
  return {
    "GET /api/v1/runs": (exchange) => {
      const items = host.list().map(({ key, createdAt, ...run }) => ({
        requestId: key.requestId,
        generation: key.generation,
        ...run,
        createdAt: new Date(createdAt).toISOString(),
      }));
      exchange.sendJson(200, { items });
    },
    "GET /api/v1/runs/:id": async (exchange, { id }) => {
      const row = await lookUpRun(log, id);
      if (!row) return exchange.sendJson(404, errorBody("request/not-found", "There is no run with this request id."));
      const live = host.list().find(({ key }) => runName(key) === runName(row.key));
      exchange.sendJson(200, { ...describeRun(await foldRun(log, row)), subscribers: live?.subscribers ?? 0 });
    },
    "POST /api/v1/runs/:id/cancel": async (exchange, { id, caller }) => {
      const canceled = await host.cancel(id, fault("run/canceled", `Canceled by ${caller?.name ?? "an operator"}.`));
      if (canceled) return exchange.sendJson(200, {});
      exchange.sendJson(404, errorBody("request/not-found", "There is no live run with this request id."));
    },
    "GET /api/v1/keys": async (exchange) => {
      exchange.sendJson(200, { items: (await keyStore.all()).map(({ hash: _hash, ...key }) => key) });
    },
    "POST /api/v1/keys": async (exchange) => {
      if (exchange.contentType !== "application/json") {
        return exchange.sendJson(415, errorBody("request/invalid", "The content type must be application/json."));
      }
      const name = nameIn(await bodies.read(exchange, maxBodyBytes));
      if (name === undefined) {
        return exchange.sendJson(
          400,
          errorBody("request/invalid", 'The body must be {"name": "…"} with 1 to 200 characters.'),
        );
      }
      exchange.sendJson(201, await keys.create(name), { "cache-control": "no-store" });
    },
    "POST /api/v1/keys/:id/revoke": async (exchange, { id }) => {
      if (await keys.revoke(id)) return exchange.sendJson(200, {});
      exchange.sendJson(404, errorBody("request/not-found", "There is no good key with this id."));
    },
  };
}

function nameIn(body: Uint8Array): string | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    const name = typeof parsed === "object" && parsed !== null && "name" in parsed ? parsed.name : undefined;
    return typeof name === "string" && name.trim() !== "" && name.length <= 200 ? name.trim() : undefined;
  } catch {
    return undefined;
  }
}
