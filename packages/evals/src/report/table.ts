/** The report as a table for terminals and for Markdown. */
import { stripVTControlCharacters } from "node:util";
import type { RunReport } from "../runner/trial-record.ts";
import { type Column, categoriesOf, columnsOf, ratesOf, shareOf, type Totals, totalsOf } from "./columns.ts";
import { differenceLines } from "./differences.ts";
import { PUBLISHED_SOURCE, publishedScores } from "./published-scores.ts";
import { wilson } from "./statistics.ts";

type Row = readonly [name: string, ...cells: string[]];

/** One column for each harness and model. Rows: solved cases by category, sums, then sentences about differences. */
export function tableOf(report: RunReport): string {
  const columns = columnsOf(report);
  const rows: Row[] = [["", ...columns.map(({ name }) => plain(name))]];
  for (const category of categoriesOf(report))
    rows.push([plain(category), ...columns.map((column) => solvedCell(column, category))]);
  rows.push(["all", ...columns.map((column) => solvedCell(column))]);
  const totals = columns.map(({ records }) => totalsOf(records));
  for (const [name, cell] of SUMS)
    if (totals.some((each) => cell(each) !== "")) rows.push([name, ...totals.map(cell)]);
  const published = publishedLines(report, columns);
  const lines = [...differenceLines(columns), ...versionLines(report).map(plain)];
  return [aligned(rows), "", ...lines, ...published, ...notes(report)].join("\n").trimEnd();
}

/** `3/5` when each case ran once, else the mean share with its interval. */
function solvedCell({ records }: Column, category?: string): string {
  const rates = [
    ...ratesOf(records.filter((record) => category === undefined || record.category === category)).values(),
  ];
  if (rates.length === 0) return "–";
  const passed = rates.reduce((sum, rate) => sum + rate.passed, 0);
  const trials = rates.reduce((sum, rate) => sum + rate.trials, 0);
  if (trials === rates.length) return `${passed}/${trials}`;
  const interval = wilson(rates.map(shareOf))!;
  return `${percent(interval.mean)} (${percent(interval.low)}–${percent(interval.high)})`;
}

/** Rows of sums. A row stands in the table when at least one of its cells is not empty. */
const SUMS: readonly (readonly [string, (totals: Totals) => string])[] = [
  ["model calls", ({ modelCalls }) => number(modelCalls)],
  ["tokens in", ({ inputTokens }) => number(inputTokens)],
  ["tokens out", ({ outputTokens }) => number(outputTokens)],
  ["bytes sent", ({ requestBytes }) => number(requestBytes)],
  [
    "of these a cached prefix",
    ({ prefixBytes, requestBytes }) => percent(prefixBytes / Math.max(1, requestBytes)),
  ],
  ["cached tokens", ({ cacheReadTokens }) => (cacheReadTokens === 0 ? "" : number(cacheReadTokens))],
  ["invalid requests", ({ invalidRequests }) => number(invalidRequests)],
  ["lost edits", ({ lostEdits }) => number(lostEdits)],
  ["infrastructure failures", ({ infrastructure }) => (infrastructure === 0 ? "" : number(infrastructure))],
  ["cost", ({ cost }) => (cost === undefined || cost === 0 ? "" : `$${cost.toFixed(2)}`)],
  ["CPU, seconds", ({ cpuMs }) => (cpuMs / 1000).toFixed(1)],
];

/** Published scores of the same models, for comparison; none where no model has any. */
function publishedLines(report: RunReport, columns: readonly Column[]): string[] {
  const known = columns.flatMap(({ name, model }) => {
    const scores = publishedScores(model);
    return scores === undefined ? [] : [{ name, scores }];
  });
  if (known.length === 0) return [];
  const rows: Row[] = [["", ...known.map(({ name }) => plain(name))]];
  for (const category of categoriesOf(report))
    if (known.some(({ scores }) => scores.has(category)))
      rows.push([
        category,
        ...known.map(({ scores }) => (scores.has(category) ? `${scores.get(category)} %` : "–")),
      ]);
  return rows.length === 1 ? [] : ["", `${PUBLISHED_SOURCE}:`, aligned(rows)];
}

/** Versions of the harnesses; empty when no harness reports one. */
export function versionLines({ versions = {} }: Pick<RunReport, "versions">): string[] {
  const known = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return known.length === 0 ? [] : [`Versions: ${known.join(", ")}.`];
}

function notes({ complete, stopReason, records }: RunReport): string[] {
  const isJudged = records.some(({ verdicts }) => verdicts.some(({ judged }) => judged));
  return [
    ...(complete ? [] : ["", `Not complete: ${stopReason ?? "some trials are missing"}.`]),
    ...(isJudged ? ["", "A judge model gave some of the verdicts."] : []),
  ];
}

export function aligned(rows: readonly Row[]): string {
  const widths = rows[0]!.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, index) => (index === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[index]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function number(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** Names come from cases and commands: no control characters reach the terminal. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}]/gu, "");
}
