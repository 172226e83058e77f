import type { Metrics } from "../telemetry/metrics.js";
import type { Routes } from "./routes.js";

/** What health checks look at. */
export interface HealthServices {
  readonly metrics: Metrics;
  /** Why the server takes no new runs; undefined when it does. Rejects when it cannot tell. */
  unready(): Promise<string | undefined>;
}

/** The paths that need no key: they say nothing that is worth one. */
export const openPaths: ReadonlySet<string> = new Set(["/", "/healthz", "/readyz"]);

const plain = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };

/** Health, metrics, and a page for whoever opens the address in a browser. */
export function healthRoutes({ metrics, unready }: HealthServices): Routes {
  return {
    "GET /healthz": (exchange) => exchange.send(200, plain, "ok\n"),
    "GET /readyz": async (exchange) => {
      const reason = await unready().catch(() => "the store does not answer");
      exchange.send(reason === undefined ? 200 : 503, plain, `${reason ?? "ready"}\n`);
    },
    "GET /metrics": async (exchange) => {
      exchange.send(
        200,
        { ...plain, "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        await metrics.render(),
      );
    },
    "GET /": (exchange) => exchange.send(200, { ...plain, "x-content-type-options": "nosniff" }, page),
  };
}

const page = `Keyturn: an agent server that speaks agent.v1, on your own model keys.

Point a client here with CURSOR_BACKEND_URL and CURSOR_API_BASE_URL set to this address,
and CURSOR_API_KEY set to an API key of this server (keyturn keys create).

/healthz  /readyz  need no key;  /metrics  /api/v1  need: Authorization: Bearer <key>
`;
