/** Cost of the thread by model and agent, the rest of its budget, and the window of the model. */
import type { Screen, Usage } from "@deepwright/protocol/live";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Facts, factsOf } from "../choices/facts.ts";
import { isRunning, snapshot } from "../state/current.ts";
import { attempt } from "../state/notices.ts";
import { addressOf, route } from "../state/route.ts";
import { assistantOf } from "../state/threads.ts";
import { money } from "../state/usage.ts";
import { grouped, words as pageWords } from "../words.ts";
import { ContextWindow } from "./context-window.tsx";
import { MOST_DAYS, type Report, reportOfAll, reportOfThread } from "./report.ts";
import "./cost.css";
import { CallChart } from "./usage-chart.tsx";
import { Forecast, Parts, Totals } from "./usage-parts.tsx";
import { words } from "./words.ts";

export function CostView({ screen }: { readonly screen: Screen }) {
  const at = route.value;
  const threadId = at.view === "thread" ? at.threadId : "";
  const running = isRunning(snapshot.value);
  const [report, setReport] = useState<Report>();
  const [all, setAll] = useState<Report>();
  const facts = factsOf(assistantOf(threadId));
  useEffect(() => {
    if (running || threadId === "") return;
    attempt(async () => setReport(await reportOfThread(threadId)));
    attempt(async () => setAll(await reportOfAll(MOST_DAYS)));
  }, [threadId, running]);
  const atWork = useUsedSince(screen.usage, running);
  return (
    <div class="cost">
      {report && <Totals report={report} />}
      {running && (
        <p>
          {words.now}: {words.tokens(atWork.total)}
          {facts?.price && ` · ${words.atLeast} ${money(priced(atWork, facts.price))}`}
        </p>
      )}
      {facts?.budget && (
        <Budget budget={facts.budget} used={usedOf(report, facts, running, atWork)} running={running} />
      )}
      <ContextWindow screen={screen} facts={facts} />
      <CallChart messages={screen.main.messages} />
      {report && <Parts report={report} />}
      {all && <Forecast title={words.forecast} forecast={all.forecast} />}
      {all && <Forecast title={words.fanOut} forecast={all.fan_out} />}
      <a href={addressOf({ view: "usage" })}>{pageWords.allCosts}</a>
    </div>
  );
}

/** Usage of the run at work since this view first saw it. */
function useUsedSince(usage: Usage, running: boolean): Usage {
  const before = useRef(usage);
  if (!running) before.current = usage;
  const { input, output, total, cached = 0 } = before.current;
  return {
    input: usage.input - input,
    output: usage.output - output,
    total: usage.total - total,
    cached: (usage.cached ?? 0) - cached,
  };
}

function priced({ input, output, cached = 0 }: Usage, price: NonNullable<Facts["price"]>): number {
  return ((input - cached) * price.input + cached * price.cache_read + output * price.output) / 1_000_000;
}

interface Used {
  readonly cost: number;
  readonly tokens: number;
  /** Undefined: not known while the run is at work. */
  readonly calls: number | undefined;
}

function usedOf(report: Report | undefined, facts: Facts, running: boolean, atWork: Usage): Used {
  if (running)
    return { cost: facts.price ? priced(atWork, facts.price) : 0, tokens: atWork.total, calls: undefined };
  const { cost = 0, tokens = 0, calls = 0 } = report?.last_run ?? {};
  return { cost, tokens, calls };
}

interface BudgetProps {
  readonly budget: NonNullable<Facts["budget"]>;
  readonly used: Used;
  readonly running: boolean;
}

function Budget({
  budget: { max_cost, max_tokens, max_steps, max_steps_per_agent },
  used,
  running,
}: BudgetProps) {
  const bars: readonly (readonly [string, number | undefined, number | null, (amount: number) => string])[] =
    [
      [words.limits.cost, used.cost, max_cost, money],
      [words.limits.tokens, used.tokens, max_tokens, grouped],
      [words.limits.calls, used.calls, max_steps, grouped],
      [words.limits.ownCalls, undefined, max_steps_per_agent, grouped],
    ];
  const limited = bars.filter(([, , limit]) => limit !== null);
  return (
    <section>
      <h2>{running ? words.budgetNow : words.budget}</h2>
      {limited.length === 0 && <p class="muted">{words.noBudget}</p>}
      {limited.map(([name, amount, limit, show]) => (
        <div key={name} class="budget">
          <span>{name}</span>
          <span>
            {amount === undefined
              ? show(limit as number)
              : words.ofLimit(show(amount), show(limit as number))}
          </span>
          {amount !== undefined && (
            <meter
              aria-label={name}
              min={0}
              max={limit as number}
              high={(limit as number) * 0.8}
              value={amount}
            />
          )}
        </div>
      ))}
    </section>
  );
}
