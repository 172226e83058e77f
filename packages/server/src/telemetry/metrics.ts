/** Label names and values of one series. */
export type Labels = Readonly<Record<string, string>>;

/** Counts up. */
export interface Counter {
  add(amount?: number, labels?: Labels): void;
}

/** Goes up and down. */
export interface Gauge {
  set(value: number, labels?: Labels): void;
  add(amount: number, labels?: Labels): void;
}

/** Distributes observations over buckets. */
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/** Seconds: from what nobody notices to what everybody does. */
export const secondsBuckets: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800];

/** A metric keeps this many series; labels that a client chose must not fill the memory. */
const maxSeries = 1_000;

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** The sample lines, without the heading. */
  lines(): string[];
}

/** All metrics of a process, rendered in Prometheus' text format. */
export class Metrics {
  readonly #metrics = new Map<string, Metric>();
  readonly #collectors: (() => void | Promise<void>)[] = [];

  /** A new counter; `keyturn_` is put before the name, which ends in `_total`. Throws when the name is taken or not valid. */
  counter(name: string, help: string): Counter {
    const series = this.#plain(name, help, "counter");
    return { add: (amount = 1, labels = {}) => series.change(labels, (value) => value + Math.max(0, amount)) };
  }

  /** A new gauge. Throws when the name is taken or not valid. */
  gauge(name: string, help: string): Gauge {
    const series = this.#plain(name, help, "gauge");
    return {
      set: (value, labels = {}) => series.change(labels, () => value),
      add: (amount, labels = {}) => series.change(labels, (value) => value + amount),
    };
  }

  /** A new histogram; `buckets` are its upper bounds, rising. Throws when the name is taken or not valid. */
  histogram(name: string, help: string, buckets: readonly number[] = secondsBuckets): Histogram {
    const all = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
    const full = this.#register(name, help, "histogram", (fullName) =>
      [...all.values()].flatMap(({ labels, counts, sum, count }) => [
        ...buckets.map((le, index) =>
          line(`${fullName}_bucket`, { ...labels, le: String(le) }, counts[index] as number),
        ),
        line(`${fullName}_bucket`, { ...labels, le: "+Inf" }, count),
        line(`${fullName}_sum`, labels, sum),
        line(`${fullName}_count`, labels, count),
      ]),
    );
    return {
      observe: (value, labels = {}) => {
        const key = line(full, labels, 0);
        let found = all.get(key);
        if (found === undefined) {
          if (all.size >= maxSeries) return;
          found = { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
          all.set(key, found);
        }
        for (const [index, bound] of buckets.entries()) if (value <= bound) (found.counts[index] as number)++;
        found.sum += value;
        found.count++;
      },
    };
  }

  /** Calls back before each rendering, to set gauges whose values lie elsewhere. */
  beforeRender(collect: () => void | Promise<void>): void {
    this.#collectors.push(collect);
  }

  /** The text for `/metrics`. A collector that fails takes nothing but its own values with it. */
  async render(): Promise<string> {
    await Promise.allSettled(this.#collectors.map(async (collect) => collect()));
    return [...this.#metrics.values()]
      .flatMap(({ name, help, type, lines }) => [
        `# HELP ${name} ${escapeHelp(help)}`,
        `# TYPE ${name} ${type}`,
        ...lines(),
      ])
      .map((text) => `${text}\n`)
      .join("");
  }

  #plain(name: string, help: string, type: "counter" | "gauge") {
    const all = new Map<string, { labels: Labels; value: number }>();
    this.#register(name, help, type, (full) => [...all.values()].map(({ labels, value }) => line(full, labels, value)));
    return {
      change: (labels: Labels, next: (value: number) => number) => {
        const key = line("", labels, 0);
        const found = all.get(key);
        if (found !== undefined) found.value = next(found.value);
        else if (all.size < maxSeries) all.set(key, { labels, value: next(0) });
      },
    };
  }

  #register(name: string, help: string, type: Metric["type"], lines: (fullName: string) => string[]): string {
    const full = `keyturn_${name}`;
    if (!/^[a-z][a-z0-9_]*$/.test(name) || this.#metrics.has(full))
      throw new Error(`the metric name ${full} is taken or not valid`);
    this.#metrics.set(full, { name: full, help, type, lines: () => lines(full) });
    return full;
  }
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${formatNumber(value)}`;
}

function escapeLabel(text: string): string {
  return text.slice(0, 200).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
