/** Plots of the score against tokens or cost, as SVG. */
import { type Column, totalsOf } from "./columns.ts";
import { escaped } from "./junit.ts";
import { number } from "./table.ts";

const WIDTH = 460;
const HEIGHT = 280;
const LEFT = 44;
const BOTTOM = 36;
/** Height of a label. */
const LINE = 14;
const COLOURS = ["#2563eb", "#d97706", "#059669", "#db2777", "#7c3aed", "#475569"];

/** Empty where nothing is known of the cost. */
export function scorePlot(columns: readonly Column[], against: "tokens" | "cost"): string {
  const points = columns.flatMap(({ name, records }) => {
    const totals = totalsOf(records);
    const x = against === "tokens" ? totals.inputTokens + totals.outputTokens : (totals.cost ?? 0);
    return totals.counted === 0 || x === 0 ? [] : [{ name, x, y: totals.passed / totals.counted }];
  });
  if (points.length === 0) return "";
  const most = Math.max(...points.map(({ x }) => x)) * 1.15;
  const unit = against === "tokens" ? number(most) : `$${most.toFixed(2)}`;
  const places = points.map(({ name, x, y }) => ({
    name,
    left: LEFT + (x / most) * (WIDTH - LEFT - 10),
    top: 10 + (1 - y) * (HEIGHT - BOTTOM - 10),
  }));
  const marks = places.map(({ name, left, top }, index) => {
    const isRight = left > WIDTH * 0.6;
    const line = top + 4 + LINE * places.slice(0, index).filter((each) => isNear(each, { left, top })).length;
    return `<circle cx="${left.toFixed(1)}" cy="${top.toFixed(1)}" r="6" fill="${COLOURS[index % COLOURS.length]}"/><text x="${(left + (isRight ? -10 : 10)).toFixed(1)}" y="${line.toFixed(1)}"${isRight ? ' text-anchor="end"' : ""}>${escaped(name)}</text>`;
  });
  const grid = [0, 0.25, 0.5, 0.75, 1].map((y) => {
    const top = (10 + (1 - y) * (HEIGHT - BOTTOM - 10)).toFixed(1);
    return `<line x1="${LEFT}" x2="${WIDTH - 10}" y1="${top}" y2="${top}" stroke="#8884"/><text x="${LEFT - 6}" y="${Number(top) + 4}" text-anchor="end">${y * 100} %</text>`;
  });
  return `<svg role="img" aria-label="Score against ${against}" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">${grid.join("")}${marks.join("")}<text x="${LEFT}" y="${HEIGHT - 10}">0</text><text x="${WIDTH - 10}" y="${HEIGHT - 10}" text-anchor="end">${against}, all trials: ${unit}</text></svg>`;
}

interface Spot {
  readonly left: number;
  readonly top: number;
}

/** Labels of such points would lie on each other. */
function isNear(one: Spot, other: Spot): boolean {
  return Math.abs(one.left - other.left) < WIDTH / 3 && Math.abs(one.top - other.top) < LINE;
}
