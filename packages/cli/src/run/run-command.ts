/** `deepwright run`: puts the pieces together. Returns the exit code. */
import { CommandError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { choiceLine, type ModelChoice } from "../model/choice.ts";
import { chooseModel } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { type Changes, changesBetween, isUnchanged } from "../workspace/changes.ts";
import { WORKSPACE_LIMITS } from "../workspace/limits.ts";
import { readWorkspace, type Workspace } from "../workspace/read-workspace.ts";
import { prepareOut, type WriteReport, writeChanges } from "../workspace/write-changes.ts";
import { failureWords } from "./failure-words.ts";
import { plainJson } from "./plain-json.ts";
import { ProgressView } from "./progress-view.ts";
import { type RunnableAgent, type RunResult, runAgent } from "./run-agent.ts";
import { endWords, exitCodeOf, figures } from "./run-end.ts";
import { type RawRunOptions, type RunOptions, runOptions } from "./run-options.ts";
import { stdinCarries } from "./stdin-kind.ts";
import { Stop } from "./stop.ts";
import type { StreamPart } from "./stream-part.ts";
import { type Task, taskText } from "./task-text.ts";
import { changeLines, refusalLines, workspaceLine, writtenLines } from "./workspace-lines.ts";

/** What the steps of one run share. */
interface Run {
  readonly options: RunOptions;
  readonly console: Console;
  readonly stop: Stop;
  readonly started: number;
  choice: ModelChoice | undefined;
}

export async function runCommand(words: readonly string[], raw: RawRunOptions): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  const stop = new Stop();
  stop.listen((reason) =>
    console.line(reason === "SIGINT" ? "Stopping… (again to quit at once)" : "Stopping…"),
  );
  const run: Run = { options: runOptions(raw), console, stop, started: Date.now(), choice: undefined };
  try {
    return await execute(words, run);
  } catch (error) {
    return failedEarly(error, run);
  } finally {
    stop.done();
  }
}

async function execute(words: readonly string[], run: Run): Promise<ExitCode> {
  const { options, stop } = run;
  const source = { stdin: process.stdin, carries: stdinCarries() };
  const task = await orStopped(taskText(words, source), stop);
  if (options.timeout !== undefined) stop.after(options.timeout);
  const out = options.out === undefined ? undefined : await prepareOut(options.out);
  const agent = await orStopped(prepareAgent(run), stop);
  const workspace = await readWorkspace(options.in, WORKSPACE_LIMITS, { signal: stop.signal, out });
  sayMaterial(run, task, workspace);
  const result = await runAgent({
    agent,
    task: task.text,
    files: workspace.files,
    stop,
    onPart: viewOf(run),
  });
  return finish(run, result, workspace, out);
}

/** Before the workspace is copied: a model that cannot be used should not cost that time. */
async function prepareAgent(run: Run): Promise<RunnableAgent> {
  const { options } = run;
  run.choice = await chooseModel(options, process.env, endpoints);
  sayChoice(run, run.choice);
  const [{ createDeepAgent }, { loadModel }] = await Promise.all([
    import("deepwright"),
    import("../model/load.ts"),
  ]);
  const model = await loadModel(run.choice);
  return createDeepAgent({
    model,
    systemPrompt: { ...(options.system === undefined ? {} : { prefix: options.system }), suffix: SITUATION },
  }) as unknown as RunnableAgent;
}

const SITUATION =
  "The files under / are a copy of the user's directory. Nobody can answer questions during this run: " +
  "do the task as far as you can, then give your answer.";

/** Warnings are said even to those who want it quiet: the offline model is one. */
function sayChoice({ options, console }: Run, choice: ModelChoice): void {
  if (options.detail !== "quiet" || choice.kind === "offline") console.line(safeLine(choiceLine(choice)));
}

/** What the agent gets to work with. */
function sayMaterial({ options, console }: Run, { note }: Task, workspace: Workspace): void {
  const quiet = options.detail === "quiet";
  if (note && (!quiet || note.isWarning)) console.line(note.words);
  if (quiet) return;
  console.line(workspaceLine(workspace, options.in, WORKSPACE_LIMITS));
  if (options.detail === "verbose")
    for (const { reason, path } of workspace.leftOut)
      console.line(`  left out (${reason}): ${safeLine(path)}`);
}

/** With --json the state itself is left out: it would repeat every file at every step. */
function viewOf({ options, console }: Run): (part: StreamPart) => void {
  if (options.json)
    return (part) => {
      if (part.type !== "values") console.json(plainJson(part));
    };
  const view = new ProgressView(console, options.detail);
  return (part) => view.take(part);
}

async function finish(
  run: Run,
  result: RunResult,
  workspace: Workspace,
  out: string | undefined,
): Promise<ExitCode> {
  const { options, console } = run;
  const { ledger, end } = result;
  const after = ledger.files ?? workspace.files;
  const changes = changesBetween(workspace.files, after);
  const report = out === undefined ? undefined : await writeChanges(out, changes, after);
  const refused = report?.refused.length ?? 0;
  const code = exitCodeOf(end) === EXIT.done && refused > 0 ? EXIT.failed : exitCodeOf(end);
  console.endText();
  if (options.detail !== "quiet") sayChanges(run, changes, report);
  if (report) for (const line of refusalLines(report)) console.line(console.colours.red(line));
  sayEnd(run, result, code);
  if (options.json) console.json(plainJson(endPart(run, result, changes, report, code)));
  return code;
}

function sayChanges({ options, console }: Run, changes: Changes, report: WriteReport | undefined): void {
  if (isUnchanged(changes)) return;
  console.line("Changes:");
  for (const line of changeLines(changes, console.colours)) console.line(line);
  for (const line of writtenLines(changes, report, options.out)) console.line(line);
}

function sayEnd(run: Run, { end, ledger }: RunResult, code: ExitCode): void {
  const { colours } = run.console;
  const isDone = exitCodeOf(end) === EXIT.done;
  if (isDone && run.options.detail === "quiet") return;
  const words = safeLine(endWords(end, failureOf(run, end)), 1_000);
  const mark = code === EXIT.done ? colours.green("✔") : colours.red("✘");
  run.console.line(`${mark} ${words} · ${figures(Date.now() - run.started, ledger)}`);
}

function failureOf(run: Run, end: RunResult["end"]): string {
  return end.kind === "failed" ? failureWords(end.error, run.choice, process.env) : "";
}

/** The last line of --json: a part like the others, with what the caller wants to know at the end. */
function endPart(
  run: Run,
  { end, ledger }: RunResult,
  changes: Changes,
  report: WriteReport | undefined,
  exitCode: ExitCode,
): StreamPart {
  const seconds = (Date.now() - run.started) / 1000;
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
      exitCode,
      seconds,
      usage: ledger.usage,
      toolCalls: ledger.toolCalls,
      changes,
      ...(report ? { written: report.written, refused: report.refused } : {}),
    },
  };
}

/** Before the agent runs there is nothing to save: a stop ends it here. */
async function orStopped<T>(work: Promise<T>, stop: Stop): Promise<T> {
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });
  });
  return Promise.race([work, stopped]);
}

function failedEarly(error: unknown, run: Run): ExitCode {
  const { console, stop } = run;
  const end: RunResult["end"] =
    stop.reason === undefined ? { kind: "failed", error } : { kind: "stopped", by: stop.reason };
  const code = end.kind === "failed" && error instanceof CommandError ? error.exitCode : exitCodeOf(end);
  const words = end.kind === "failed" ? failureOf(run, end) : endWords(end);
  console.line(console.colours.red(`deepwright: ${words}`));
  if (run.options.json) {
    const data = { type: "run-end", end: end.kind, error: words, exitCode: code };
    console.json(plainJson({ type: "custom", ns: [], data }));
  }
  return code;
}
