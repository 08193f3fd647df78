/** Turns medians into the table people read. */

const HEAD = [
  "",
  "deepwright",
  "deepagents",
  "createAgent",
  "hand",
  "÷ deepagents",
  "÷ createAgent",
  "÷ hand",
  "goal",
  "",
];
const NAMES = ["deepwright", "deepagents", "createAgent", "hand"];

/** One row: the medians, our ratios to the others, and whether a goal is met (undefined: none or no data). */
export function rowOf({ label, metric, goal, ownGoal }, medians) {
  const values = Object.fromEntries(NAMES.map((name) => [name, medians[name]?.[metric]]));
  const ratio = (name) => (values[name] > 0 ? values.deepwright / values[name] : undefined);
  const ratios = Object.fromEntries(NAMES.slice(1).map((name) => [name, ratio(name)]));
  const judged = goal === undefined ? values.deepwright : ratios.deepagents;
  const limit = goal ?? ownGoal;
  const met = limit === undefined || judged === undefined ? undefined : judged <= limit;
  return { label, metric, values, ratios, goal, ownGoal, met };
}

export function tableOf(rows) {
  const lines = rows.map((row) => [
    row.label,
    ...NAMES.map((name) => number(row.values[name])),
    ...NAMES.slice(1).map((name) => number(row.ratios[name], 2)),
    goalText(row),
    row.met === undefined ? "" : row.met ? "✓" : "✗",
  ]);
  const widths = HEAD.map((title, i) => Math.max(1, title.length, ...lines.map((line) => line[i].length)));
  const rule = widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  const pad = (cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])));
  return [pad(HEAD), rule, ...lines.map(pad)].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function goalText({ goal, ownGoal }) {
  if (goal !== undefined) return `≤ ${goal}`;
  return ownGoal === undefined ? "" : `own ≤ ${ownGoal}`;
}

/** Three significant digits, or `digits` after the point; small ratios keep what they say. */
function number(value, digits) {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (digits !== undefined && Math.abs(value) >= 0.05) return value.toFixed(digits);
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
