/** Records of a run by column: one harness with one model. */
import type { RunReport, TrialRecord } from "../runner/trial-record.ts";

export interface Column {
  readonly name: string;
  readonly harness: string;
  readonly model: string;
  readonly records: readonly TrialRecord[];
}

/** In the order of the report. A name says what differs between the columns; a live model alone gives its own. */
export function columnsOf({ harnesses, models, records }: RunReport): Column[] {
  return harnesses.flatMap((harness) =>
    models.map((model) => ({
      name: nameOf(harness, model, { harnesses, models }),
      harness,
      model,
      records: records.filter((record) => record.harness === harness && record.model === model),
    })),
  );
}

function nameOf(
  harness: string,
  model: string,
  { harnesses, models }: Pick<RunReport, "harnesses" | "models">,
): string {
  const isScripted = models.length === 1 && model === SCRIPTED;
  if (harnesses.length > 1 && models.length > 1) return `${harness} · ${model}`;
  return harnesses.length > 1 || isScripted ? harness : model;
}

/** The model of level 0. */
export const SCRIPTED = "scripted";

export function categoriesOf({ records }: Pick<RunReport, "records">): string[] {
  return [...new Set(records.map(({ category }) => category))];
}

/** Share of passed trials of each case, by category and id. Infrastructure failures do not count. */
export function ratesOf(records: readonly TrialRecord[]): Map<string, Rate> {
  const rates = new Map<string, { passed: number; trials: number }>();
  for (const record of records) {
    if (record.status === "infrastructure") continue;
    const key = `${record.category}/${record.case}`;
    const rate = rates.get(key) ?? { passed: 0, trials: 0 };
    rate.trials += 1;
    if (record.status === "passed") rate.passed += 1;
    rates.set(key, rate);
  }
  return rates;
}

export interface Rate {
  readonly passed: number;
  readonly trials: number;
}

export function shareOf({ passed, trials }: Rate): number {
  return trials === 0 ? 0 : passed / trials;
}

/** Sums of a column. */
export interface Totals {
  readonly passed: number;
  readonly counted: number;
  readonly infrastructure: number;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly requestBytes: number;
  readonly prefixBytes: number;
  readonly invalidRequests: number;
  readonly lostEdits: number;
  readonly cpuMs: number;
  /** Undefined where a call had no known price. */
  readonly cost: number | undefined;
}

export function totalsOf(records: readonly TrialRecord[]): Totals {
  const sum = (read: (record: TrialRecord) => number) =>
    records.reduce((total, record) => total + read(record), 0);
  const count = (status: string) => records.filter((record) => record.status === status).length;
  const infrastructure = count("infrastructure");
  return {
    passed: count("passed"),
    counted: records.length - infrastructure,
    infrastructure,
    modelCalls: sum(({ usage }) => usage.modelCalls),
    inputTokens: sum(({ usage }) => usage.inputTokens),
    outputTokens: sum(({ usage }) => usage.outputTokens),
    cacheReadTokens: sum(({ usage }) => usage.cacheReadTokens),
    requestBytes: sum(({ usage }) => usage.requestBytes),
    prefixBytes: sum(({ usage }) => usage.prefixBytes),
    invalidRequests: sum(({ usage }) => usage.invalidRequests),
    lostEdits: sum(({ usage }) => usage.lostEdits),
    cpuMs: sum(({ times }) => times.cpuMs),
    cost: records.some(({ usage }) => usage.cost === undefined)
      ? undefined
      : sum(({ usage }) => usage.cost ?? 0),
  };
}
