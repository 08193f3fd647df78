/** The mutation check: Deepwright with one feature off at a time, and the category that notices. */
import { deepwrightHarness } from "../harness/deepwright-harness.ts";
import { FEATURES } from "../harness/feature-switches.ts";
import type { Harness } from "../harness/harness.ts";
import type { RunReport } from "../runner/trial-record.ts";
import { categoriesOf, columnsOf } from "./columns.ts";

const WHOLE = "deepwright";

export function featureHarnesses(): Harness[] {
  return [
    deepwrightHarness({ name: WHOLE, retryWait: "none" }),
    ...FEATURES.map((feature) =>
      deepwrightHarness({ name: `without ${feature}`, without: [feature], retryWait: "none" }),
    ),
  ];
}

/** A Markdown table: which categories lose how many cases. */
export function featureTable(report: RunReport): string {
  const [whole, ...others] = columnsOf(report);
  const solved = (records: RunReport["records"], category: string) =>
    records.filter((each) => each.category === category && each.status === "passed").length;
  const rows = others.map(({ name, records }) => {
    const drops = categoriesOf(report).flatMap((category) => {
      const before = solved(whole?.records ?? [], category);
      const after = solved(records, category);
      return before === after ? [] : [`${category} ${before} → ${after}`];
    });
    return `| ${name.replace("without ", "")} | ${drops.join(", ") || "none"} |`;
  });
  return ["| feature switched off | categories that notice |", "|---|---|", ...rows].join("\n");
}
