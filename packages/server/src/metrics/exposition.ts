/** Counters and histograms, and their text in the format of Prometheus (version 0.0.4). */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

/** A metric whose values are known when it is read. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Family {
  text(): string;
}

/** A sum that only grows. */
export class Counter implements Family {
  readonly #series = new Map<string, number>();

  constructor(
    readonly name: string,
    readonly help: string,
  ) {}

  add(labels: Labels, amount = 1): void {
    const key = labelText(labels);
    this.#series.set(key, (this.#series.get(key) ?? 0) + amount);
  }

  text(): string {
    return [
      header(this.name, this.help, "counter"),
      ...[...this.#series].map(([key, value]) => `${this.name}${braces(key)} ${value}`),
    ].join("\n");
  }
}

interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Counts values in buckets. `bounds` are the upper bounds, in ascending order. */
export class Histogram implements Family {
  readonly #series = new Map<string, Distribution>();

  constructor(
    readonly name: string,
    readonly help: string,
    readonly bounds: readonly number[],
  ) {}

  observe(labels: Labels, value: number): void {
    const key = labelText(labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { counts: this.bounds.map(() => 0), sum: 0, count: 0 };
      this.#series.set(key, series);
    }
    const index = this.bounds.findIndex((bound) => value <= bound);
    if (index >= 0) series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += value;
    series.count += 1;
  }

  text(): string {
    const lines = [header(this.name, this.help, "histogram")];
    for (const [key, { counts, sum, count }] of this.#series) {
      const bucket = (bound: number | string, value: number) =>
        `${this.name}_bucket{${key}${key && ","}le="${bound}"} ${value}`;
      let below = 0;
      for (const [index, bound] of this.bounds.entries()) {
        below += counts[index] ?? 0;
        lines.push(bucket(bound, below));
      }
      lines.push(bucket("+Inf", count));
      lines.push(`${this.name}_sum${braces(key)} ${sum}`, `${this.name}_count${braces(key)} ${count}`);
    }
    return lines.join("\n");
  }
}

export function gaugeText({ name, help, samples }: Gauge): string {
  return [
    header(name, help, "gauge"),
    ...samples.map(({ labels = {}, value }) => `${name}${braces(labelText(labels))} ${value}`),
  ].join("\n");
}

/** Limits the values of a label: up to `most` names; further and unusual ones become `other`. */
export class BoundedNames {
  readonly #known = new Set<string>();

  constructor(readonly most: number) {}

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.most || !/^[\w.:/@-]{1,80}$/.test(name)) return "other";
    this.#known.add(name);
    return name;
  }
}

const header = (name: string, help: string, type: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}`;

const braces = (key: string): string => (key ? `{${key}}` : "");

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
}

function escaped(value: string): string {
  return value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}
