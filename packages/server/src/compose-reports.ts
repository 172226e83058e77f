import type { RunHost } from "./engine/host.js";
import type { EngineReports } from "./engine/ports.js";
import type { TransportReports } from "./rpc/ports.js";
import { type Fault, FaultError } from "./run/faults.js";
import { type RunKey, runName } from "./run/ids.js";
import { phaseKinds } from "./run/phases.js";
import type { Store } from "./store/port.js";
import type { Logger } from "./telemetry/logger.js";
import type { Metrics } from "./telemetry/metrics.js";

/** What the rooms report to. */
export interface Reports {
  readonly engine: EngineReports;
  readonly transport: TransportReports;
  /** A run was set aside because its log is damaged; said once, whoever comes upon it later. */
  damagedRun(key: RunKey, reason: Fault): void;
}

/** The rooms' reports as log lines and metrics. */
export function createReports(log: Logger, metrics: Metrics): Reports {
  const started = metrics.counter("runs_started_total", "Runs that were accepted.");
  const ended = metrics.counter("runs_ended_total", "Runs that ended, by outcome.");
  const duration = metrics.histogram("run_seconds", "From the first append of a run to its end.");
  const late = metrics.counter("late_inputs_total", "Answers and timers that came too late to have an effect.");
  const problems = metrics.counter(
    "problems_total",
    "Defects and failures of the surroundings, all of them in the log.",
  );
  const streams = metrics.gauge("streams", "Open streams of runs.");
  const appends = metrics.histogram("append_seconds", "From a whole append to its acknowledgement.");
  const unknown = metrics.counter("unknown_calls_total", "Procedures that are only acknowledged, by name.");

  const damaged = metrics.counter("damaged_runs_total", "Runs that were set aside because their log is damaged.");
  const told = new WeakSet<Fault>();

  const problem = (what: string, facts: object, cause: unknown) => {
    if (FaultError.is(cause) && told.has(cause.fault)) return;
    problems.add();
    log.error({ ...facts, err: cause }, what);
  };
  return {
    engine: {
      runStarted: (key) => {
        started.add();
        log.info({ run: runName(key) }, "run started");
      },
      runEnded: (key, outcome, durationMs) => {
        ended.add(1, { outcome });
        duration.observe(durationMs / 1_000);
        log.info({ run: runName(key), outcome, durationMs }, "run ended");
      },
      lateInput: (kind) => late.add(1, { kind }),
      problem: (what, key, cause) => problem(what, { run: runName(key) }, cause),
    },
    transport: {
      streamOpened: () => streams.add(1),
      streamClosed: () => streams.add(-1),
      appendAnswered: (durationMs) => appends.observe(durationMs / 1_000),
      unknownCall: (name) => unknown.add(1, { name }),
      problem: (what, cause) => problem(what, {}, cause),
    },
    damagedRun: (key, reason) => {
      told.add(reason);
      damaged.add();
      log.error(
        { run: runName(key), reason: reason.detail },
        "a run was set aside, its log is damaged; see keyturn doctor",
      );
    },
  };
}

/** Gauges whose values lie in the rooms: read when somebody asks for the metrics. */
export function observeRooms(metrics: Metrics, host: RunHost, store: Store): void {
  const runs = metrics.gauge("runs", "Runs in memory, by phase.");
  const storeBytes = metrics.gauge("store_bytes", "Size of the store.");
  const memory = metrics.gauge("process_resident_bytes", "Memory of the process.");
  metrics.beforeRender(async () => {
    const phases = host.list().map(({ phase }) => phase);
    for (const phase of phaseKinds) runs.set(phases.filter((one) => one === phase).length, { phase });
    memory.set(process.memoryUsage.rss());
    storeBytes.set(await store.sizeBytes());
  });
}
