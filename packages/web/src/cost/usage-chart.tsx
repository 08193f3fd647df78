/** Tokens and cost as bars, one for each call or day, with the same figures as a table. */
import type { ShownMessage } from "@deepwright/protocol/live";
import { type Amount, money } from "../state/usage.ts";
import { grouped } from "../words.ts";
import { words } from "./words.ts";

type Part = keyof typeof words.parts;

interface Bar {
  readonly name: string;
  readonly parts: readonly (readonly [Part, number])[];
}

const MOST_CALLS = 60;
const DAY_MS = 24 * 60 * 60_000;

export function CallChart({ messages }: { readonly messages: readonly ShownMessage[] }) {
  const counted = messages.flatMap(({ usage }) => usage ?? []);
  if (counted.length === 0) return null;
  const first = Math.max(0, counted.length - MOST_CALLS);
  const bars = counted.slice(first).map(({ input, output, cached = 0 }, index) => ({
    name: String(first + index + 1),
    parts: tokenParts(input, cached, output),
  }));
  const title = first > 0 ? words.lastCalls(bars.length) : words.byCall;
  return <Chart title={title} head={words.call} bars={bars} show={grouped} />;
}

/** The last days, those without a run included. */
export function DayCharts({ days, last }: { readonly days: readonly DayAmount[]; readonly last: number }) {
  const byDay = new Map(days.map((one) => [one.day, one]));
  const shown = Array.from({ length: last }, (_, index) => {
    const day = new Date(Date.now() - (last - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return { day, amount: byDay.get(day) };
  });
  const tokens = shown.map(({ day, amount }) => ({
    name: day,
    parts: tokenParts(amount?.input_tokens ?? 0, amount?.cache_read_tokens ?? 0, amount?.output_tokens ?? 0),
  }));
  const costs = shown.map(({ day, amount }) => ({
    name: day,
    parts: [["cost", amount?.cost ?? 0]] as const,
  }));
  return (
    <>
      <Chart title={words.byDay} head={words.day} bars={tokens} show={grouped} />
      {days.some(({ cost }) => cost > 0) && (
        <Chart title={words.costByDay} head={words.day} bars={costs} show={money} />
      )}
    </>
  );
}

type DayAmount = Amount & { readonly day: string };

const tokenParts = (input: number, cached: number, written: number): Bar["parts"] => [
  ["cached", cached],
  ["fresh", Math.max(0, input - cached)],
  ["written", written],
];

interface ChartProps {
  readonly title: string;
  /** Heading of the column that names the bars. */
  readonly head: string;
  readonly bars: readonly Bar[];
  readonly show: (amount: number) => string;
}

const heightOf = ({ parts }: Bar): number => parts.reduce((sum, [, amount]) => sum + amount, 0);

function Chart({ title, head, bars, show }: ChartProps) {
  const most = Math.max(...bars.map(heightOf));
  if (most === 0) return null;
  const names = bars[0]?.parts.map(([part]) => part) ?? [];
  return (
    <section class="chart">
      <h2>{title}</h2>
      <svg
        viewBox="0 0 100 24"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${words.upTo(show(most))}`}
      >
        {bars.map((bar, index) => (
          <g key={bar.name}>
            <title>{`${bar.name}: ${show(heightOf(bar))}`}</title>
            {stacked(bar, most, index, 100 / bars.length)}
          </g>
        ))}
      </svg>
      <p class="chart-foot muted">
        <span>{bars[0]?.name}</span>
        <span>{words.upTo(show(most))}</span>
        <span>{bars.at(-1)?.name}</span>
      </p>
      {names.length > 1 && (
        <p class="legend">
          {names.map((part) => (
            <span key={part}>
              <span class={`swatch part-${part}`} />
              {words.parts[part]}
            </span>
          ))}
        </p>
      )}
      <BarTable {...{ title, head, bars, names, show }} />
    </section>
  );
}

function stacked({ parts }: Bar, most: number, index: number, width: number) {
  let top = 24;
  return parts.map(([part, amount]) => {
    const height = (24 * amount) / most;
    top -= height;
    return (
      <rect
        key={part}
        class={`part-${part}`}
        x={(index + 0.1) * width}
        y={top}
        width={0.8 * width}
        height={height}
      />
    );
  });
}

function BarTable({ title, head, bars, names, show }: ChartProps & { readonly names: readonly Part[] }) {
  const filled = bars.filter((bar) => heightOf(bar) > 0);
  return (
    <details>
      <summary>{words.asTable}</summary>
      <table class="cost-table" aria-label={title}>
        <thead>
          <tr>
            {[head, ...names.map((part) => words.parts[part])].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {filled.map(({ name, parts }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {parts.map(([part, amount]) => (
                <td key={part}>{show(amount)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
