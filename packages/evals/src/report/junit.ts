/** The report as JUnit XML, for CI servers. */
import type { RunReport, TrialRecord } from "../runner/trial-record.ts";
import { columnsOf } from "./columns.ts";

export function junitOf(report: RunReport): string {
  const suites = columnsOf(report).map(({ name, records }) => {
    const failures = records.filter(({ status }) => status === "failed").length;
    const errors = records.filter(({ status }) => status === "infrastructure").length;
    const head = `<testsuite name="${escaped(name)}" tests="${records.length}" failures="${failures}" errors="${errors}">`;
    return [`  ${head}`, ...records.map(caseOf), "  </testsuite>"].join("\n");
  });
  return ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", ...suites, "</testsuites>", ""].join(
    "\n",
  );
}

function caseOf(record: TrialRecord): string {
  const { category, trial, status, reason = "", times } = record;
  const name = trial === 1 ? record.case : `${record.case} (trial ${trial})`;
  const attributes = `classname="${escaped(category)}" name="${escaped(name)}" time="${(times.wallMs / 1000).toFixed(3)}"`;
  if (status === "passed") return `    <testcase ${attributes}/>`;
  const element = status === "failed" ? "failure" : "error";
  return `    <testcase ${attributes}><${element} message="${escaped(reason)}"/></testcase>`;
}

/** For text and attributes of XML and HTML. Characters that XML cannot have are left out. */
export function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;")
    .replaceAll("\n", "&#10;");
}
