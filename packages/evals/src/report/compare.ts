/** Two runs beside each other: which cases changed, and with what confidence. */
import type { RunReport } from "../runner/trial-record.ts";
import { type Column, columnsOf, type Rate, ratesOf, SCRIPTED, shareOf } from "./columns.ts";
import { difference, differenceWords } from "./differences.ts";
import { fisher } from "./statistics.ts";
import { percent, plain } from "./table.ts";

export interface ChangedCase {
  readonly column: string;
  readonly key: string;
  readonly before: Rate;
  readonly after: Rate;
  /** Chance of such a difference, or a larger one, if nothing changed. */
  readonly p: number;
}

/** Cases whose share of passed trials differs, in both runs. */
export function changedCases(before: RunReport, after: RunReport): ChangedCase[] {
  return paired(before, after).flatMap(({ one, other }) => {
    const rates = ratesOf(other.records);
    return [...ratesOf(one.records)].flatMap(([key, rate]) => {
      const now = rates.get(key);
      if (now === undefined || shareOf(now) === shareOf(rate)) return [];
      return [{ column: one.name, key, before: rate, after: now, p: fisher(rate, now) }];
    });
  });
}

/** The comparison in words. `before` is A, `after` is B. */
export function compareText(before: RunReport, after: RunReport): string {
  const pairs = paired(before, after);
  if (pairs.length === 0) return "The runs have no harness with the same model in common.";
  const lines = pairs.map((pair) => `${nameOf(pair)}: ${differenceWords(pair.other, pair.one)}`);
  const changed = changedCases(before, after);
  if (changed.length === 0) return [...lines, "No case changed."].join("\n");
  const isSure = pairs.every(isScripted);
  return [
    ...lines,
    "",
    `${changed.length} ${changed.length === 1 ? "case" : "cases"} changed:`,
    ...changed.map((each) => changeLine(each, isSure)),
  ].join("\n");
}

function changeLine({ column, key, before, after, p }: ChangedCase, isSure: boolean): string {
  const verb = shareOf(after) > shareOf(before) ? "better" : "worse";
  const confidence = isSure ? "deterministic" : `p = ${p.toFixed(2)}${p > 0.05 ? ", may be chance" : ""}`;
  return `  ${verb}  ${plain(key)}  ${percent(shareOf(before))} → ${percent(shareOf(after))}  (${plain(column)}; ${confidence})`;
}

/** Why B is worse than the baseline A; undefined when it is not. Scripted cases must not fail anew; live ones need a difference that is shown. */
export function worseThan(baseline: RunReport, now: RunReport): string | undefined {
  const pairs = paired(baseline, now);
  if (pairs.length === 0)
    return "The baseline has no harness with the same model: there is nothing to compare.";
  for (const pair of pairs) {
    const { one, other } = pair;
    const found = difference(other, one);
    if (found === undefined) return `The baseline has no case of this run (${plain(other.name)}).`;
    if (!isScripted(pair)) {
      if (found.isShown && found.mean < 0)
        return `${plain(other.name)} is worse than the baseline: ${differenceWords(other, one)}`;
      continue;
    }
    const rates = ratesOf(other.records);
    const fallen = [...ratesOf(one.records)].find(
      ([key, rate]) => shareOf(rates.get(key) ?? rate) < shareOf(rate),
    );
    if (fallen !== undefined) return `${one.name} fails ${fallen[0]}, which passed in the baseline.`;
  }
  return undefined;
}

interface Pair {
  readonly one: Column;
  readonly other: Column;
}

function isScripted({ one, other }: Pair): boolean {
  return one.model === SCRIPTED && other.model === SCRIPTED;
}

/** The same harness with the same model in both runs; the only columns of two runs are compared whatever they are. */
function paired(before: RunReport, after: RunReport): Pair[] {
  const [ones, others] = [columnsOf(before), columnsOf(after)];
  const same = ones.flatMap((one) => {
    const other = others.find(({ harness, model }) => harness === one.harness && model === one.model);
    return other === undefined ? [] : [{ one, other }];
  });
  const [one, other] = [ones[0], others[0]];
  const isOnly = ones.length === 1 && others.length === 1 && one !== undefined && other !== undefined;
  return same.length === 0 && isOnly ? [{ one, other }] : same;
}

/** The name of a pair; that of B and of A where they differ. */
function nameOf({ one, other }: Pair): string {
  const isSame = one.harness === other.harness && one.model === other.model;
  if (isSame) return `${plain(one.name)}, B compared with A`;
  const name = ({ harness, model }: Column) => plain(`${harness} · ${model}`);
  return `${name(other)} (B) compared with ${name(one)} (A)`;
}
