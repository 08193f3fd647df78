/** Forecast for subagents that wait for an approval, from earlier runs on this server. */
import { useEffect, useState } from "preact/hooks";
import { MOST_DAYS, type Report, reportOfAll } from "./report.ts";
import { forecastWords } from "./usage-parts.tsx";
import { words } from "./words.ts";

export function FanOut() {
  const [report, setReport] = useState<Report>();
  useEffect(() => {
    reportOfAll(MOST_DAYS).then(setReport, () => undefined);
  }, []);
  if (!report) return null;
  const { fan_out: forecast } = report;
  if (!forecast) return <p class="muted">{words.fanOutUnknown}</p>;
  return (
    <p class="fan-out">
      {words.fanOut(forecast.samples)}. {words.half} {forecastWords(forecast, "p50")}; {words.most}{" "}
      {forecastWords(forecast, "p90")}.
    </p>
  );
}
