/** The report as one self-contained HTML page: no script, no external request. */
import type { RunReport, TraceStep, TrialRecord } from "../runner/trial-record.ts";
import { type Column, categoriesOf, columnsOf, ratesOf, SCRIPTED, totalsOf } from "./columns.ts";
import { differenceLines } from "./differences.ts";
import { PAGE_STYLE } from "./html-style.ts";
import { escaped } from "./junit.ts";
import { scorePlot } from "./plots.ts";
import { PUBLISHED_SOURCE, publishedScores } from "./published-scores.ts";
import { number, percent, versionLines } from "./table.ts";

export function htmlOf(report: RunReport): string {
  const columns = columnsOf(report);
  const body = [
    "<h1>Evals</h1>",
    `<p>${escaped(summary(report))}</p>`,
    scoreTable(report, columns),
    ...differenceLines(columns).map((line) => `<p>${escaped(line)}</p>`),
    published(report, columns),
    `<div class="plots">${scorePlot(columns, "tokens")}${scorePlot(columns, "cost")}</div>`,
    "<h2>Cases</h2>",
    ...categoriesOf(report).map((category) => categorySection(report, columns, category)),
  ];
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
    `<title>Evals</title><style>${PAGE_STYLE}</style></head><body><main>`,
    ...body,
    "</main></body></html>",
    "",
  ].join("\n");
}

function summary(report: RunReport): string {
  const { records, trials, complete, stopReason, models } = report;
  const state = complete ? "" : ` Not complete: ${stopReason ?? "some trials are missing"}.`;
  const names = models.map((name) => (name === SCRIPTED ? "scripted models" : name)).join(" and ");
  const count = `${records.length} trials, ${trials} of each case, with ${names}.`;
  return [`${count}${state}`, ...versionLines(report)].join(" ");
}

function scoreTable(report: RunReport, columns: readonly Column[]): string {
  const head = row("th", ["category", ...columns.map(({ name }) => name)]);
  const rows = categoriesOf(report).map((category) =>
    row("td", [
      category,
      ...columns.map(({ records }) => share(records.filter((each) => each.category === category))),
    ]),
  );
  const totals = columns.map(({ records }) => totalsOf(records));
  const sums: [string, string[]][] = [
    ["all", columns.map(({ records }) => share(records))],
    ["model calls", totals.map(({ modelCalls }) => number(modelCalls))],
    ["tokens in", totals.map(({ inputTokens }) => number(inputTokens))],
    ["tokens out", totals.map(({ outputTokens }) => number(outputTokens))],
    [
      "cached prefix",
      totals.map(({ prefixBytes, requestBytes }) => percent(prefixBytes / Math.max(1, requestBytes))),
    ],
    ["invalid requests", totals.map(({ invalidRequests }) => number(invalidRequests))],
    ["lost edits", totals.map(({ lostEdits }) => number(lostEdits))],
    ["infrastructure failures", totals.map(({ infrastructure }) => number(infrastructure))],
    ["cost", totals.map(({ cost }) => (cost === undefined ? "unknown" : `$${cost.toFixed(2)}`))],
    ["CPU, seconds", totals.map(({ cpuMs }) => (cpuMs / 1000).toFixed(1))],
  ];
  const feet = sums.map(([name, cells]) => row("td", [name, ...cells]));
  return `<table><thead>${head}</thead><tbody>${rows.join("")}</tbody><tfoot>${feet.join("")}</tfoot></table>`;
}

function share(records: readonly TrialRecord[]): string {
  const rates = [...ratesOf(records).values()];
  const passed = rates.reduce((sum, rate) => sum + rate.passed, 0);
  const trials = rates.reduce((sum, rate) => sum + rate.trials, 0);
  return trials === 0 ? "–" : `${passed}/${trials} (${percent(passed / trials)})`;
}

function published(report: RunReport, columns: readonly Column[]): string {
  const known = columns.flatMap(({ name, model }) => {
    const scores = publishedScores(model);
    return scores === undefined ? [] : [{ name, scores }];
  });
  if (known.length === 0) return "";
  const head = row("th", ["category", ...known.map(({ name }) => name)]);
  const rows = categoriesOf(report)
    .filter((category) => known.some(({ scores }) => scores.has(category)))
    .map((category) =>
      row("td", [category, ...known.map(({ scores }) => `${scores.get(category) ?? "–"} %`)]),
    );
  if (rows.length === 0) return "";
  return `<h2>Published scores</h2><p>${escaped(PUBLISHED_SOURCE)}.</p><table><thead>${head}</thead><tbody>${rows.join("")}</tbody></table>`;
}

function row(cell: "th" | "td", cells: readonly string[]): string {
  return `<tr>${cells.map((text) => `<${cell}>${escaped(text)}</${cell}>`).join("")}</tr>`;
}

function categorySection(report: RunReport, columns: readonly Column[], category: string): string {
  const ids = [
    ...new Set(report.records.filter((each) => each.category === category).map((each) => each.case)),
  ];
  const cases = ids.map((id) => {
    const found = columns.map(({ name, records }) => ({
      name,
      records: records.filter((each) => each.category === category && each.case === id),
    }));
    const marks = found
      .map(({ name, records }) => `<b class="${colour(records)}">${escaped(name)} ${share(records)}</b>`)
      .join(" · ");
    const trials = found.flatMap(({ name, records }) => records.map((record) => trialSection(name, record)));
    return `<details><summary>${escaped(id)} <span>${marks}</span></summary>${trials.join("")}</details>`;
  });
  return `<h3>${escaped(category)}</h3>${cases.join("\n")}`;
}

/** Class of the result of a case: all passed, or not. */
function colour(records: readonly TrialRecord[]): string {
  if (records.every(({ status }) => status === "passed")) return "passed";
  return records.some(({ status }) => status === "failed") ? "failed" : "infrastructure";
}

function trialSection(column: string, record: TrialRecord): string {
  const { status, reason, verdicts, usage, trace, trial } = record;
  const checks = verdicts.map(
    ({ name, passed, judged, reason: why = "" }) =>
      `<li class="${passed ? "passed" : "failed"}">${passed ? "✓" : "✗"} ${escaped(name)}${judged ? " (judge model)" : ""} ${escaped(why)}</li>`,
  );
  const cost = usage.cost === undefined || usage.cost === 0 ? "" : `, $${usage.cost.toFixed(4)}`;
  const used = `${usage.modelCalls} model calls, ${number(usage.inputTokens)} tokens in, ${number(usage.outputTokens)} out${cost}`;
  return [
    `<details class="trial"><summary class="${status}">${escaped(column)}, trial ${trial}: ${status} <span>${used}</span></summary>`,
    reason === undefined ? "" : `<p>${escaped(reason)}</p>`,
    `<ul>${checks.join("")}</ul>`,
    `<ol>${trace.map(stepItem).join("")}</ol></details>`,
  ].join("");
}

function stepItem({ kind, text, calls = [], failed }: TraceStep): string {
  const made = calls.map(({ name, args }) => `<pre>${escaped(name)}(${escaped(args)})</pre>`).join("");
  const words = text === "" ? "" : `<pre>${escaped(text)}</pre>`;
  return `<li class="${kind}${failed ? " failed" : ""}"><b>${kind}</b>${words}${made}</li>`;
}
