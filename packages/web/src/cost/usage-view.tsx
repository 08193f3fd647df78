/** Cost of all threads of the caller: by day, model, agent and thread. */
import { useEffect, useState } from "preact/hooks";
import { attempt } from "../state/notices.ts";
import { addressOf } from "../state/route.ts";
import { threads, titleOf } from "../state/threads.ts";
import { words as pageWords } from "../words.ts";
import { MOST_DAYS, type Report, reportOfAll } from "./report.ts";
import { DayCharts } from "./usage-chart.tsx";
import { Forecast, Parts, PartTable, Totals } from "./usage-parts.tsx";
import "./cost.css";
import { words } from "./words.ts";

const PERIODS = [7, 30, 90, MOST_DAYS];
const MOST_THREADS = 20;

export function UsageView() {
  const [days, setDays] = useState(30);
  const [report, setReport] = useState<Report>();
  useEffect(() => attempt(async () => setReport(await reportOfAll(days))), [days]);
  return (
    <div class="cost usage">
      <h1>{words.usageTitle}</h1>
      <label>
        {words.period}{" "}
        <select value={days} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
          {PERIODS.map((period) => (
            <option key={period} value={period}>
              {words.days(period)}
            </option>
          ))}
        </select>
      </label>
      {report ? <Whole report={report} days={days} /> : <p class="muted">{pageWords.loading}</p>}
    </div>
  );
}

function Whole({ report, days }: { readonly report: Report; readonly days: number }) {
  const costly = report.threads.toSorted(
    (left, right) => right.cost - left.cost || right.tokens - left.tokens,
  );
  const rows = costly.slice(0, MOST_THREADS).map((one) => [nameOf(one.thread_id), one] as const);
  return (
    <>
      <Totals report={report} />
      {report.total.runs > 0 && <DayCharts days={report.days} last={days} />}
      <Parts report={report} />
      {rows.length > 0 && <PartTable title={words.byThread} head={words.thread} rows={rows} />}
      <Forecast title={words.forecast} forecast={report.forecast} />
      <Forecast title={words.fanOut} forecast={report.fan_out} />
    </>
  );
}

function nameOf(threadId: string) {
  const thread = threads.value.find(({ thread_id: id }) => id === threadId);
  if (!thread) return threadId;
  return <a href={addressOf({ view: "thread", threadId })}>{titleOf(thread) ?? pageWords.untitled}</a>;
}
