/** `deepwright memory consolidate`: puts the pieces together. Returns the exit code. */
import type { SharedSaver } from "@deepwright/checkpoint";
import type { ConsolidationReport } from "deepwright/consolidation";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { choiceLine, type ModelChoice } from "../model/choice.ts";
import { chooseModel } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { realDirectory } from "../run/directory.ts";
import { failureWords } from "../run/output/failure-words.ts";
import { ProgressView } from "../run/output/progress-view.ts";
import { endWords, exitCodeOf } from "../run/output/run-end.ts";
import { type RunOptions, runOptions } from "../run/run-options.ts";
import { Stop } from "../run/stop.ts";
import { databaseName, databaseOf, isThere, openDatabase } from "../state/database.ts";
import { seconds } from "../terminal/amounts.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { ageOf } from "../threads/amounts.ts";
import type { RawMemoryOptions } from "./memory-command-line.ts";
import { MEMORY_FILE, type MemoryFiles, openMemoryFiles } from "./memory-files.ts";
import { codeOf, fileLines, reportJson, reviewedLine, statusWords } from "./memory-lines.ts";

/** Data shared by the steps of one consolidation. */
interface Review {
  readonly options: RunOptions;
  /** Seconds. */
  readonly since: number | undefined;
  readonly allThreads: boolean;
  readonly console: Console;
  readonly stop: Stop;
  readonly started: number;
  choice: ModelChoice | undefined;
}

export async function consolidateCommand(raw: RawMemoryOptions): Promise<ExitCode> {
  const { since, all, ...common } = raw;
  const console = new Console(process.stdout, process.stderr, process.env);
  const stop = new Stop();
  stop.listen(() => console.line("Stopping…"));
  const review: Review = {
    options: runOptions(common),
    since: since === undefined ? undefined : ageOf(since, "--since"),
    allThreads: all === true,
    console,
    stop,
    started: Date.now(),
    choice: undefined,
  };
  if (review.options.timeout !== undefined) stop.after(review.options.timeout);
  try {
    return await execute(review);
  } catch (error) {
    return failed(review, error);
  } finally {
    stop.done();
  }
}

async function execute(review: Review): Promise<ExitCode> {
  const { options } = review;
  const directory = await realDirectory(options.in);
  const database = databaseOf(options.db, process.env);
  if (!isThere(database)) {
    if (database.kind !== "sqlite" || !database.isDefault)
      throw usageError(`There is no database at ${databaseName(database)}.`, "Check --db and DEEPWRIGHT_DB.");
    return told(review, directory, NO_THREADS, undefined);
  }
  const saver = await openDatabase(database);
  try {
    return await reviewThreads(review, directory, saver);
  } finally {
    await saver.close();
  }
}

const NO_THREADS: ConsolidationReport = {
  status: "nothing-new",
  conversations: [],
  remaining: 0,
  files: [],
  removed: [],
  diffPath: undefined,
  recoveredPath: undefined,
  answer: "",
  outcome: undefined,
  error: undefined,
};

async function reviewThreads(review: Review, directory: string, saver: SharedSaver): Promise<ExitCode> {
  const { options, stop, since, console } = review;
  const choice = await chooseModel(options, process.env, endpoints);
  review.choice = choice;
  if (options.detail !== "quiet" || choice.kind === "offline") console.line(safeLine(choiceLine(choice)));
  const [{ createConsolidationAgent }, { conversationsOf }, model, files] = await Promise.all([
    import("deepwright/consolidation"),
    import("@deepwright/checkpoint"),
    import("../model/load.ts").then(({ loadModel }) => loadModel(choice)),
    openMemoryFiles(directory, keeps(review), process.env),
  ]);
  const scope = review.allThreads ? {} : { cwd: directory };
  const agent = createConsolidationAgent({
    model,
    conversations: conversationsOf(saver, { ...scope, claimScope: directory }),
    memory: [MEMORY_FILE],
    backend: files.backend,
  });
  if (options.detail !== "quiet") console.line(`Memory: ${safeLine(directory)}${MEMORY_FILE}`);
  const view = new ProgressView(console, options.detail);
  const isShown = !options.json && options.detail !== "quiet";
  const report = await agent.consolidate({
    ...(since === undefined ? {} : { since }),
    signal: stop.signal,
    onPart: (part) => {
      if (isShown) view.take(part);
    },
  });
  return told(review, directory, report, files);
}

/** The offline model cannot judge conversations, so they stay unreviewed for a real model. */
function keeps({ options, choice }: Review): boolean {
  return !options.dryRun && !isOffline(choice);
}

function isOffline(choice: ModelChoice | undefined): boolean {
  return choice?.kind === "offline";
}

function told(
  review: Review,
  directory: string,
  report: ConsolidationReport,
  files: MemoryFiles | undefined,
): ExitCode {
  const { options, console, started } = review;
  const { colours } = console;
  const code = codeOf(report);
  const failure = report.status === "failed" ? failureWords(report.error, review.choice, process.env) : "";
  const isLoud = options.detail !== "quiet";
  const offline = isOffline(review.choice);
  const scope = { directory, allThreads: review.allThreads, isRecent: review.since !== undefined };
  console.endText();
  if (isLoud && report.conversations.length > 0) console.line(reviewedLine(report, offline));
  if (isLoud || code !== EXIT.done) for (const line of fileLines(report.files, colours)) console.line(line);
  sayKept(review, report, files);
  const words = safeLine(statusWords(report, failure, scope, offline), 1_000);
  const mark = code === EXIT.done ? colours.green("✔") : colours.red("✘");
  if (isLoud || code !== EXIT.done) console.line(`${mark} ${words} · ${seconds(Date.now() - started)}`);
  if (options.json) {
    const error = failure === "" ? {} : { error: failure };
    const { dryRun } = options;
    const more = { directory, seconds: (Date.now() - started) / 1000, dryRun, offline, ...error };
    console.json(JSON.stringify(reportJson(report, more, files?.historyPath ?? String)));
  }
  return code;
}

function sayKept(review: Review, report: ConsolidationReport, files: MemoryFiles | undefined): void {
  const { options, console } = review;
  const { diffPath, recoveredPath } = report;
  if (!keeps(review)) {
    if (!options.json)
      for (const { patch } of report.files)
        for (const line of patch.trimEnd().split("\n")) console.line(safeLine(line, 1_000));
    const why = options.dryRun ? "--dry-run" : "the offline model cannot judge what is worth remembering";
    if (report.status !== "nothing-new" && options.detail !== "quiet")
      console.line(`Nothing was written: ${why}`);
    return;
  }
  if (recoveredPath !== undefined && files)
    console.line(
      `An earlier run did not end; changes since then: ${safeLine(files.historyPath(recoveredPath))}`,
    );
  if (diffPath !== undefined && files && options.detail !== "quiet")
    console.line(`Diff: ${safeLine(files.historyPath(diffPath))}`);
}

function failed({ options, console, stop, choice }: Review, error: unknown): ExitCode {
  const end =
    stop.reason === undefined
      ? ({ kind: "failed", error } as const)
      : ({ kind: "stopped", by: stop.reason } as const);
  const code = end.kind === "failed" && error instanceof CommandError ? error.exitCode : exitCodeOf(end);
  const words = end.kind === "failed" ? whyFailed(error, choice) : endWords(end);
  console.line(console.colours.red(`deepwright: ${words}`));
  if (options.json) console.json(JSON.stringify({ status: end.kind, error: words, exitCode: code }));
  return code;
}

function whyFailed(error: unknown, choice: ModelChoice | undefined): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === "THREAD_BUSY" ? String(message) : failureWords(error, choice, process.env);
}
