import { readFile } from "node:fs/promises";
import type { ServerConfig } from "./config/server-config.js";
import type { RunHost } from "./engine/host.js";
import { accountRoutes } from "./http/account.js";
import { adminRoutes } from "./http/admin.js";
import type { ApiKeys } from "./http/api-keys.js";
import { createApp } from "./http/app.js";
import { createGuard } from "./http/guard.js";
import { healthRoutes, openPaths } from "./http/health.js";
import { type Listener, openListener } from "./http/listener.js";
import type { ModelGateway } from "./models/port.js";
import { createClassifier } from "./rpc/client-class.js";
import type { TransportReports } from "./rpc/ports.js";
import { BodyReader } from "./rpc/read-body.js";
import { createRpcRouter } from "./rpc/router.js";
import type { Store } from "./store/port.js";
import type { Metrics } from "./telemetry/metrics.js";
import { version } from "./version.js";

/** How long a reader may take no byte before its connection is cut (I-18). */
const stallMs = 120_000;

/** Where a server stands in its life. */
export type ServerState = "starting" | "ready" | "stopping";

/** The rooms that the port leads to. */
interface Rooms {
  readonly store: Store;
  readonly keys: ApiKeys;
  readonly models: ModelGateway;
  readonly host: RunHost;
  readonly metrics: Metrics;
  readonly reports: TransportReports;
  state(): ServerState;
}

/** Joins the rooms behind one port and opens it. Rejects with the system's error of listening. */
export async function listen(config: ServerConfig, rooms: Rooms): Promise<Listener> {
  const { store, keys, models, host, metrics, reports, state } = rooms;
  const { server, limits } = config;
  const publicUrl = server.publicUrl === undefined ? undefined : new URL(server.publicUrl);
  const runDefaults = {
    disconnectGraceMs: limits.disconnectGraceMs,
    maxPasses: limits.maxPasses,
    totalMs: limits.runTotalMs,
  };
  const app = createApp({
    guard: createGuard({
      bindHost: server.host,
      allowedHosts: [...server.allowedHosts, ...(publicUrl ? [publicUrl.hostname] : [])],
      allowedOrigins: [...server.allowedOrigins, ...(publicUrl ? [publicUrl.origin] : [])],
      identify: (bearer) => keys.verify(bearer) ?? keys.verifyToken(bearer),
      isOpen: (path) => openPaths.has(path),
    }),
    rpc: createRpcRouter({
      host,
      models,
      conversations: store.conversations,
      blobs: store.blobs,
      classify: createClassifier(config.clients, runDefaults),
      bodies: new BodyReader(server.maxBodyBytes * 4),
      reports,
      maxBodyBytes: server.maxBodyBytes,
      stallMs,
      preferHttp2: server.http2,
      version,
    }),
    routes: {
      ...healthRoutes({ metrics, unready: () => unready(store, state()) }),
      ...accountRoutes({
        models,
        keys: store.keys,
        verify: (key) => keys.verify(key),
        issueAccessToken: (key) => keys.issueAccessToken(key),
      }),
      ...adminRoutes({ host, log: store.log, keys, keyStore: store.keys }),
    },
    isClosing: () => state() === "stopping",
    problem: reports.problem,
  });
  const tls = server.tls && { cert: await readFile(server.tls.cert), key: await readFile(server.tls.key) };
  return openListener({ host: server.host, port: server.port, tls, onRequest: app });
}

async function unready(store: Store, state: ServerState): Promise<string | undefined> {
  if (state !== "ready") return `the server is ${state}`;
  await store.sizeBytes();
  await store.meta.get("access-token-secret");
  return undefined;
}
