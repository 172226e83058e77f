import { describe, expect, it } from "vitest";
import { Metrics } from "./metrics.js";

describe("Metrics", () => {
  it("renders counters, gauges and histograms as Prometheus reads them", async () => {
    const metrics = new Metrics();
    const runs = metrics.counter("runs_ended_total", "Runs that ended,\nby outcome");
    runs.add();
    runs.add(2, { outcome: 'fai"led\\\n' });
    runs.add(-5);
    const size = metrics.gauge("store_size_bytes", "Bytes on disk");
    metrics.beforeRender(async () => size.set(42));
    metrics.beforeRender(() => {
      throw new Error("a collector broke");
    });
    const seconds = metrics.histogram("append_seconds", "Appends", [0.1, 1]);
    for (const value of [0.05, 0.5, 5]) seconds.observe(value, { kind: "a" });
    expect(await metrics.render()).toBe(
      [
        "# HELP keyturn_runs_ended_total Runs that ended,\\nby outcome",
        "# TYPE keyturn_runs_ended_total counter",
        "keyturn_runs_ended_total 1",
        'keyturn_runs_ended_total{outcome="fai\\"led\\\\\\n"} 2',
        "# HELP keyturn_store_size_bytes Bytes on disk",
        "# TYPE keyturn_store_size_bytes gauge",
        "keyturn_store_size_bytes 42",
        "# HELP keyturn_append_seconds Appends",
        "# TYPE keyturn_append_seconds histogram",
        'keyturn_append_seconds_bucket{kind="a",le="0.1"} 1',
        'keyturn_append_seconds_bucket{kind="a",le="1"} 2',
        'keyturn_append_seconds_bucket{kind="a",le="+Inf"} 3',
        'keyturn_append_seconds_sum{kind="a"} 5.55',
        'keyturn_append_seconds_count{kind="a"} 3',
        "",
      ].join("\n"),
    );
  });

  it("refuses a name twice, and keeps the number of series in bounds", async () => {
    const metrics = new Metrics();
    const counter = metrics.counter("things_total", "Things");
    expect(() => metrics.gauge("things_total", "Others")).toThrow("keyturn_things_total is taken");
    expect(() => metrics.gauge("Bad-Name", "x")).toThrow("not valid");
    for (let index = 0; index < 5_000; index++) counter.add(1, { id: String(index) });
    expect((await metrics.render()).split("\n").length).toBeLessThan(1_100);
  });
});
