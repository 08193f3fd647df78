/** The report of a consolidation, as text and as JSON. */
import type { ConsolidationReport } from "deepwright/consolidation";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { endWords, exitCodeOf, type RunEnd } from "../run/output/run-end.ts";
import { count } from "../terminal/amounts.ts";
import type { Colours } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";

const MAX_LISTED = 50;
const MAX_LINE = 200;

/** `Reviewed 3 threads; 2 more are left for the next run`. The offline model reviews nothing. */
export function reviewedLine({ conversations, remaining }: ConsolidationReport, offline: boolean): string {
  if (offline) return `Looked at ${count(conversations.length, "thread")}, none reviewed`;
  const rest = remaining > 0 ? `; ${count(remaining, "more is", "more are")} left for the next run` : "";
  return `Reviewed ${count(conversations.length, "thread")}${rest}`;
}

/** Each file with all of its changes. */
export function fileLines(files: ConsolidationReport["files"], colours: Colours): readonly string[] {
  return files.flatMap(({ path, removed, added, refused, putBack }) => {
    const amounts = `${count(removed.length, "line")} removed, ${added.length} added`;
    const lines = removed
      .slice(0, MAX_LISTED)
      .map((line) => colours.red(`    - ${safeLine(line, MAX_LINE)}`));
    const more = removed.length > MAX_LISTED ? [`    … and ${removed.length - MAX_LISTED} more`] : [];
    return [`  ~ ${safeLine(path)}: ${amounts}`, ...lines, ...more, ...refusal(refused, putBack, colours)];
  });
}

function refusal(refused: string | undefined, putBack: boolean | undefined, colours: Colours): string[] {
  if (refused === undefined) return [];
  const what = putBack ? "it was restored" : "it could NOT be restored: others wrote to it";
  return [colours.red(`    ${safeLine(refused)}: ${what}`)];
}

export function endOf({ status, outcome, error }: ConsolidationReport): RunEnd {
  if (status === "failed") return { kind: "failed", error };
  return { kind: "outcome", outcome: outcome ?? { kind: "done" } };
}

export function codeOf(report: ConsolidationReport): ExitCode {
  const code = exitCodeOf(endOf(report));
  return code === EXIT.done && report.status === "incomplete" ? EXIT.failed : code;
}

/** The threads that were searched for. */
export interface Scope {
  readonly directory: string;
  readonly allThreads: boolean;
  /** Whether older conversations were left out. */
  readonly isRecent: boolean;
}

function nothingNewWords({ directory, allThreads, isRecent }: Scope): string {
  const time = isRecent ? "since the last time and within --since" : "since the last time";
  if (allThreads) return `nothing new: no threads ${time}`;
  return `nothing new: no threads of ${directory} ${time} (--all: threads of every directory)`;
}

/** The text about the end; `failure` is the text of the error. */
export function statusWords(
  report: ConsolidationReport,
  failure: string,
  scope: Scope,
  offline: boolean,
): string {
  if (report.status === "nothing-new") return nothingNewWords(scope);
  if (offline && report.status === "done") return "nothing reviewed";
  const words = endWords(endOf(report), failure);
  return report.status === "incomplete" && words === "done" ? "refused: too much was removed" : words;
}

/** `paths` are the real paths of the diffs. */
export function reportJson(
  report: ConsolidationReport,
  more: {
    readonly directory: string;
    readonly seconds: number;
    readonly error?: string;
    readonly dryRun: boolean;
    /** The model judged nothing: it was the offline one. */
    readonly offline: boolean;
  },
  realPath: (path: string) => string,
): object {
  const { status, conversations, remaining, files, removed, diffPath, recoveredPath, answer, outcome } =
    report;
  const keeps = !more.dryRun && !more.offline;
  return {
    status,
    exitCode: codeOf(report),
    ...more,
    conversations,
    remaining,
    files,
    removed,
    ...(diffPath !== undefined && keeps ? { diff: realPath(diffPath) } : {}),
    ...(recoveredPath !== undefined && keeps ? { recovered: realPath(recoveredPath) } : {}),
    answer,
    ...(outcome ? { outcome } : {}),
  };
}
