import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createReports, observeRooms } from "./compose-reports.js";
import type { ServerConfig } from "./config/server-config.js";
import { RunHost } from "./engine/host.js";
import { systemClock } from "./engine/ports.js";
import { accountRoutes } from "./http/account.js";
import { adminRoutes } from "./http/admin.js";
import { ApiKeys } from "./http/api-keys.js";
import { createApp } from "./http/app.js";
import { createGuard } from "./http/guard.js";
import { healthRoutes, openPaths } from "./http/health.js";
import { type Listener, openListener } from "./http/listener.js";
import { createModelGateway } from "./models/gateway.js";
import type { ModelGateway } from "./models/port.js";
import { createClassifier } from "./rpc/client-class.js";
import type { TransportReports } from "./rpc/ports.js";
import { BodyReader } from "./rpc/read-body.js";
import { createRpcRouter } from "./rpc/router.js";
import { wireCodec } from "./rpc/wire-codec.js";
import { openStore } from "./store/open.js";
import type { Store } from "./store/port.js";
import { createLogger, type LoggerOptions } from "./telemetry/logger.js";
import { Metrics } from "./telemetry/metrics.js";
import type { TurnServices } from "./turn/services.js";
import { createTurn, type Turn } from "./turn/turn.js";

/** What a server is started from. */
export interface StartOptions {
  readonly config: ServerConfig;
  /** Where the log goes; standard error by default. */
  readonly logStream?: LoggerOptions["stream"];
  /** In place of the turn room: tests script a turn with it. */
  readonly turn?: (services: TurnServices) => Turn;
}

/** A server that answers. */
export interface RunningServer {
  /** The address clients use, without a slash at the end. */
  readonly address: string;
  readonly port: number;
  /** The API key that was made because there was none; its text is not kept anywhere. */
  readonly newKey?: string;
  readonly host: RunHost;
  readonly models: ModelGateway;
  /** Ends what runs, within `limits.stopGraceMs` and so that clients may come back, and releases everything. Safe to call twice. */
  close(): Promise<void>;
}

/** The version of this server. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;

/** How long a reader may take no byte before its connection is cut (I-18). */
const stallMs = 120_000;
const pruneEveryMs = 300_000;
/** What is left of a connection after its streams have ended. */
const lastBytesMs = 1_000;

/**
 * Builds all rooms, joins them and opens the port. Resolves when every run of a former process is taken over.
 * Rejects with StoreOpenError, PresetKeyError or the system's error of listening; nothing stays open then.
 */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { config } = options;
  const log = createLogger({ level: config.logLevel, secrets: config.secrets, stream: options.logStream });
  const metrics = new Metrics();
  const reports = createReports(log, metrics);
  const store = await openStore({
    url: config.store.url,
    dataDir: config.dataDir,
    maxSizeBytes: config.store.maxSizeBytes,
    onDamagedBlob: (id) => log.warn({ blob: id }, "a damaged blob was removed"),
  });
  let listener: Listener | undefined;
  try {
    const keys = await ApiKeys.open({ store });
    const newKey = (await keys.ensureFirstKey(config.presetApiKey))?.key;
    const models = createModelGateway(config.models);
    const host = createHost(options, store, models, reports.engine);
    observeRooms(metrics, host, store);
    let state: "starting" | "ready" | "stopping" = "starting";
    const open = await listen(config, {
      store,
      keys,
      models,
      host,
      metrics,
      reports: reports.transport,
      state: () => state,
    });
    listener = open;
    await host.recover();
    const pruning = prune(store, config.store.retentionMs, reports.transport);
    state = "ready";
    log.info({ port: open.port, version }, "ready");

    const close = async () => {
      state = "stopping";
      clearInterval(pruning);
      await host.stop(config.limits.stopGraceMs);
      await open.close(lastBytesMs);
      await store.close();
      log.info({}, "stopped");
    };
    let closing: Promise<void> | undefined;
    return {
      address: addressOf(config, open.port),
      port: open.port,
      newKey,
      host,
      models,
      close: () => (closing ??= close()),
    };
  } catch (error) {
    await listener?.close(0);
    await store.close();
    throw error;
  }
}

function createHost(
  options: StartOptions,
  store: Store,
  models: ModelGateway,
  reports: ReturnType<typeof createReports>["engine"],
): RunHost {
  const turn = (options.turn ?? createTurn)({ models, blobs: store.blobs });
  return new RunHost({
    log: store.log,
    logic: turn.logic,
    turn,
    codec: wireCodec,
    clock: systemClock,
    limits: options.config.limits,
    reports,
    heartbeatMs: options.config.server.heartbeatMs,
  });
}

interface Rooms {
  readonly store: Store;
  readonly keys: ApiKeys;
  readonly models: ModelGateway;
  readonly host: RunHost;
  readonly metrics: Metrics;
  readonly reports: TransportReports;
  state(): "starting" | "ready" | "stopping";
}

async function listen(config: ServerConfig, rooms: Rooms): Promise<Listener> {
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
      ...adminRoutes({ host, keys, keyStore: store.keys }),
    },
    isClosing: () => state() === "stopping",
    problem: reports.problem,
  });
  const tls = server.tls && { cert: await readFile(server.tls.cert), key: await readFile(server.tls.key) };
  return openListener({ host: server.host, port: server.port, tls, onRequest: app });
}

async function unready(store: Store, state: "starting" | "ready" | "stopping"): Promise<string | undefined> {
  if (state !== "ready") return `the server is ${state}`;
  await store.sizeBytes();
  await store.meta.get("access-token-secret");
  return undefined;
}

/** Ended runs are kept for their retention, and a little longer (R6). */
function prune(store: Store, retentionMs: number, reports: TransportReports): NodeJS.Timeout {
  const once = () =>
    store.log.prune(Date.now() - retentionMs).catch((error: unknown) => {
      reports.problem("old runs could not be deleted", error);
    });
  const timer = setInterval(once, Math.min(retentionMs, pruneEveryMs));
  timer.unref();
  return timer;
}

function addressOf({ server }: ServerConfig, port: number): string {
  if (server.publicUrl !== undefined) return server.publicUrl.replace(/\/+$/, "");
  const host = server.host === "0.0.0.0" || server.host === "::" ? "127.0.0.1" : server.host;
  return `${server.tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
