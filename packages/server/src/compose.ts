import { listen, type ServerState } from "./compose-http.js";
import { createReports, observeRooms } from "./compose-reports.js";
import { startRetention } from "./compose-retention.js";
import type { ServerConfig } from "./config/server-config.js";
import { RunHost } from "./engine/host.js";
import { type Clock, systemClock } from "./engine/ports.js";
import { ApiKeys } from "./http/api-keys.js";
import type { Listener } from "./http/listener.js";
import { createModelGateway } from "./models/gateway.js";
import type { ModelGateway } from "./models/port.js";
import { wireCodec } from "./rpc/wire-codec.js";
import { openStore } from "./store/open.js";
import type { Store } from "./store/port.js";
import { setAsideDamaged } from "./store/set-aside-damaged.js";
import { createLogger, type LoggerOptions } from "./telemetry/logger.js";
import { Metrics } from "./telemetry/metrics.js";
import type { TurnServices } from "./turn/services.js";
import { createTurn, type Turn } from "./turn/turn.js";
import { version } from "./version.js";

/** What a server is started from. */
export interface StartOptions {
  readonly config: ServerConfig;
  /** Where the log goes; standard error by default. */
  readonly logStream?: LoggerOptions["stream"];
  /** In place of the turn room: tests script a turn with it. */
  readonly turn?: (services: TurnServices) => Turn;
  /** In place of the system's clock. */
  readonly clock?: Clock;
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
  const opened = await openStore({
    url: config.store.url,
    dataDir: config.dataDir,
    maxSizeBytes: config.store.maxSizeBytes,
    onDamagedBlob: (id) => log.warn({ blob: id }, "a damaged blob was removed"),
  });
  const store: Store = { ...opened, log: setAsideDamaged(opened.log, reports.damagedRun) };
  let listener: Listener | undefined;
  try {
    const keys = await ApiKeys.open({ store });
    const models = createModelGateway(config.models);
    const host = createHost(options, store, models, reports.engine);
    observeRooms(metrics, host, store);
    let state: ServerState = "starting";
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
    // Not before the port is ours: a key that is made is shown once, and a start that fails would swallow it.
    const newKey = (await keys.ensureFirstKey(config.presetApiKey))?.key;
    await host.recover();
    const stopRetention = startRetention({
      log: store.log,
      retentionMs: config.store.retentionMs,
      clock: options.clock ?? systemClock,
      pruned: (runs) => log.info({ runs }, "old runs were deleted"),
      problem: reports.transport.problem,
    });
    state = "ready";
    log.info({ port: open.port, version }, "ready");

    const close = async () => {
      state = "stopping";
      stopRetention();
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
    clock: options.clock ?? systemClock,
    limits: options.config.limits,
    reports,
    heartbeatMs: options.config.server.heartbeatMs,
  });
}

function addressOf({ server }: ServerConfig, port: number): string {
  if (server.publicUrl !== undefined) return server.publicUrl.replace(/\/+$/, "");
  const host = server.host === "0.0.0.0" || server.host === "::" ? "127.0.0.1" : server.host;
  return `${server.tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
