/** What a run says at its end, to people and to programs. */
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { ModelChoice } from "../model/choice.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { isUnchanged, NO_CHANGES } from "./changes.ts";
import { failureWords } from "./failure-words.ts";
import { plainJson } from "./plain-json.ts";
import type { RunResult } from "./run-agent.ts";
import { endWords, exitCodeOf, figures } from "./run-end.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunThread } from "./run-thread.ts";
import type { Stop } from "./stop.ts";
import type { StreamPart } from "./stream-part.ts";
import type { WorkOutcome, Workplace } from "./workplace.ts";
import { changeLines, notWrittenLines, previewLines, writtenLine } from "./workspace-lines.ts";

/** What the steps of one run share. */
export interface Run {
  readonly options: RunOptions;
  readonly console: Console;
  readonly stop: Stop;
  readonly started: number;
  choice: ModelChoice | undefined;
  /** Absent while there is none yet. */
  thread: RunThread | undefined;
}

/** The end of a run that had an agent. `since` is the number of the thread's newest image when it began. */
export async function reportEnd(
  run: Run,
  result: RunResult,
  workplace: Workplace,
  since: number,
): Promise<ExitCode> {
  const { options, console, thread } = run;
  const code = exitCodeOf(result.end);
  console.endText();
  const work = await workOf(run, workplace, since);
  sayWork(run, work, workplace);
  sayEnd(run, result);
  if (thread?.isKept && options.detail !== "quiet") console.line(`thread: ${safeLine(thread.id)}`);
  if (options.json) console.json(plainJson(endPart(run, result, work, workplace)));
  return code;
}

/** A database that fails now must not hide how the run ended. */
async function workOf({ thread, console }: Run, workplace: Workplace, since: number): Promise<WorkOutcome> {
  const none = { changes: NO_CHANGES, preview: undefined };
  if (!thread) return none;
  try {
    return await workplace.outcome(thread.saver, thread.id, since);
  } catch (error) {
    const words = safeLine(failureWords(error, undefined, process.env), 500);
    console.line(console.colours.red(`Which files were changed is not known: ${words}`));
    return none;
  }
}

function sayWork({ options, console }: Run, work: WorkOutcome, { directory, notWritten }: Workplace): void {
  const { changes, preview } = work;
  const { colours } = console;
  const isQuiet = options.detail === "quiet";
  if (!isUnchanged(changes) && !isQuiet) {
    console.line("Changes:");
    for (const line of changeLines(changes, colours)) console.line(line);
  }
  if (preview) {
    for (const line of previewLines(preview, colours)) console.line(line);
    console.line("Nothing was written: --dry-run");
  } else if (!isUnchanged(changes) && !isQuiet) console.line(writtenLine(changes, directory));
  for (const line of notWrittenLines(notWritten)) console.line(colours.red(line));
}

function sayEnd(run: Run, { end, ledger }: RunResult): void {
  const { colours } = run.console;
  const isDone = exitCodeOf(end) === EXIT.done;
  if (isDone && run.options.detail === "quiet") return;
  const words = safeLine(endWords(end, failureOf(run, end)), 1_000);
  const mark = isDone ? colours.green("✔") : colours.red("✘");
  run.console.line(`${mark} ${words} · ${figures(Date.now() - run.started, ledger)}`);
}

export function failureOf(run: Run, end: RunResult["end"]): string {
  return end.kind === "failed" ? failureWords(end.error, run.choice, process.env) : "";
}

/** The last line of --json: a part like the others, with what the caller wants to know at the end. */
function endPart(
  run: Run,
  { end, ledger }: RunResult,
  { changes, preview }: WorkOutcome,
  { directory, notWritten }: Workplace,
): StreamPart {
  return {
    type: "custom",
    ns: [],
    data: {
      type: "run-end",
      end: end.kind,
      ...(end.kind === "outcome" ? { outcome: end.outcome } : {}),
      ...(end.kind === "stopped" ? { stoppedBy: end.by } : {}),
      ...(end.kind === "failed" ? { error: failureOf(run, end) } : {}),
      ...(end.kind === "approval" ? { interrupts: ledger.pending } : {}),
      exitCode: exitCodeOf(end),
      ...(run.thread?.isKept ? { threadId: run.thread.id } : {}),
      seconds: (Date.now() - run.started) / 1000,
      usage: ledger.usage,
      toolCalls: ledger.toolCalls,
      directory,
      changes,
      notWritten,
      ...(preview
        ? { dryRun: true, patches: preview.map(({ path, patch = null }) => ({ path, patch })) }
        : {}),
    },
  };
}
