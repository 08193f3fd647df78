/** Sentences about the difference of columns, with paired intervals. */
import { type Column, type Rate, ratesOf, shareOf } from "./columns.ts";
import { FEWEST_CASES, fisher, type Interval, pairedDifference, showsDifference } from "./statistics.ts";

/** One line for each column beside the first. */
export function differenceLines([first, ...others]: readonly Column[]): string[] {
  if (first === undefined) return [];
  return others.map((other) => `${first.name} compared with ${other.name}: ${differenceWords(first, other)}`);
}

type Records = Pick<Column, "records">;

/** The share of `one` less the share of `other`. */
export function differenceWords(one: Records, other: Records): string {
  const found = difference(one, other);
  if (found === undefined) return "no case in common.";
  const { mean, low, high, cases, isShown, p } = found;
  const over = `over ${cases} ${cases === 1 ? "case" : "cases"}`;
  if (p !== undefined)
    return `${isShown ? `${points(mean)} points` : "no difference shown"} (${over}, too few for an interval; p = ${p.toFixed(2)} by their trials).`;
  const range = `${points(low)} to ${points(high)} points, 95 % interval ${over}`;
  return isShown ? `${points(mean)} points (${range}).` : `no difference shown (${range}).`;
}

export interface Difference extends Interval {
  readonly cases: number;
  readonly isShown: boolean;
  /** With too few cases for an interval: p of all their trials taken together. It speaks of these cases alone. */
  readonly p?: number;
}

/** The difference over the cases that both have; undefined without such a case. */
export function difference(one: Records, other: Records): Difference | undefined {
  const [rates, others] = [ratesOf(one.records), ratesOf(other.records)];
  const found = pairedDifference(shares(rates), shares(others));
  if (found === undefined) return undefined;
  if (found.cases >= FEWEST_CASES) return { ...found, isShown: showsDifference(found) };
  const common = [...rates.keys()].filter((key) => others.has(key));
  const p = fisher(together(rates, common), together(others, common));
  return { ...found, p, isShown: p < 0.05 && found.mean !== 0 };
}

function shares(rates: ReadonlyMap<string, Rate>): Map<string, number> {
  return new Map([...rates].map(([key, rate]) => [key, shareOf(rate)]));
}

function together(rates: ReadonlyMap<string, Rate>, keys: readonly string[]): Rate {
  const found = keys.flatMap((key) => rates.get(key) ?? []);
  return {
    passed: found.reduce((sum, { passed }) => sum + passed, 0),
    trials: found.reduce((sum, { trials }) => sum + trials, 0),
  };
}

function points(value: number): string {
  const rounded = (value * 100).toFixed(1);
  return value > 0 ? `+${rounded}` : rounded;
}
