/** Tables and figures of a usage report. */
import type { ComponentChildren } from "preact";
import { type Amount, money } from "../state/usage.ts";
import { grouped } from "../words.ts";
import type { ForecastAmounts, Report } from "./report.ts";
import { words } from "./words.ts";

export function Totals({
  report: { total, cached_share: share, uncounted_runs: uncounted },
}: {
  readonly report: Report;
}) {
  if (total.runs === 0)
    return <p class="muted">{uncounted > 0 ? words.uncounted(uncounted) : words.nothing}</p>;
  const isPriced = total.unpriced_calls < total.calls;
  const rows: readonly (readonly [string, string])[] = [
    [words.facts.runs, grouped(total.runs)],
    [words.facts.calls, grouped(total.calls)],
    [words.facts.input, grouped(total.input_tokens)],
    [words.facts.cached, `${grouped(total.cache_read_tokens)} · ${words.share(share ?? 0)}`],
    [words.facts.output, grouped(total.output_tokens)],
  ];
  return (
    <section>
      <p class="cost-total">
        <strong>{isPriced ? money(total.cost) : words.noPrice}</strong> {words.tokens(total.tokens)}
      </p>
      <dl class="facts">
        {rows.map(([name, amount]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{amount}</dd>
          </div>
        ))}
      </dl>
      {total.unpriced_calls > 0 && <p class="muted">{words.unpriced(total.unpriced_calls)}</p>}
      {uncounted > 0 && <p class="muted">{words.uncounted(uncounted)}</p>}
    </section>
  );
}

export function Parts({ report: { models, agents } }: { readonly report: Report }) {
  return (
    <>
      {models.length > 0 && (
        <PartTable
          title={words.byModel}
          head={words.model}
          rows={models.map((one) => [one.model || words.noName, one])}
        />
      )}
      {agents.length > 0 && (
        <PartTable
          title={words.byAgent}
          head={words.agent}
          rows={agents.map((one) => [one.agent_path.join(" / ") || words.mainAgent, one])}
        />
      )}
    </>
  );
}

interface TableProps {
  readonly title: string;
  readonly head: string;
  readonly rows: readonly (readonly [ComponentChildren, Amount])[];
}

export function PartTable({ title, head, rows }: TableProps) {
  return (
    <table class="cost-table">
      <caption>{title}</caption>
      <thead>
        <tr>
          {[head, words.read, words.cached, words.written, words.cost].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, amount], index) => (
          <tr key={index}>
            <th scope="row">{name}</th>
            <td>{grouped(amount.input_tokens)}</td>
            <td>{grouped(amount.cache_read_tokens)}</td>
            <td>{grouped(amount.output_tokens)}</td>
            <td>{amount.unpriced_calls === amount.calls ? words.unknownPrice : money(amount.cost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Forecast for one more of them. Null: there were too few. */
export function Forecast({
  title,
  forecast,
}: {
  readonly title: (samples: number) => string;
  readonly forecast: ForecastAmounts | null;
}) {
  if (!forecast) return null;
  return (
    <section>
      <h2>{title(forecast.samples)}</h2>
      <dl class="facts">
        <div>
          <dt>{words.half}</dt>
          <dd>{forecastWords(forecast, "p50")}</dd>
        </div>
        <div>
          <dt>{words.most}</dt>
          <dd>{forecastWords(forecast, "p90")}</dd>
        </div>
      </dl>
    </section>
  );
}

export function forecastWords({ tokens, cost }: ForecastAmounts, at: "p50" | "p90"): string {
  return `${words.tokens(tokens[at])}${cost[at] > 0 ? ` · ${money(cost[at])}` : ""}`;
}
