/** `deepwright run`: puts the pieces together. Returns the exit code. */
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { choiceLine, type ModelChoice } from "../model/choice.ts";
import { chooseModel } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { CLAIM_SECONDS } from "../state/other-run.ts";
import { seconds } from "../terminal/amounts.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { changedSince } from "../workspace/changed-since.ts";
import { type Changes, changesBetween, type Files, isUnchanged } from "../workspace/changes.ts";
import { WORKSPACE_LIMITS } from "../workspace/limits.ts";
import { readWorkspace, type Workspace } from "../workspace/read-workspace.ts";
import { toWrite } from "../workspace/to-write.ts";
import { prepareOut, type WriteReport, writeChanges } from "../workspace/write-changes.ts";
import { failureWords } from "./failure-words.ts";
import { plainJson } from "./plain-json.ts";
import { ProgressView } from "./progress-view.ts";
import { type RunnableAgent, type RunResult, runAgent } from "./run-agent.ts";
import { endWords, exitCodeOf, figures } from "./run-end.ts";
import { type RawRunOptions, type RunOptions, runOptions } from "./run-options.ts";
import { closeRunThread, filesAtStart, openRunThread, type RunThread } from "./run-thread.ts";
import { stdinCarries } from "./stdin-kind.ts";
import { Stop } from "./stop.ts";
import type { StreamPart } from "./stream-part.ts";
import { optionalTaskText, type Task, taskText } from "./task-text.ts";
import { changeLines, refusalLines, threadLine, workspaceLine, writtenLines } from "./workspace-lines.ts";

/** What the steps of one run share. */
interface Run {
  readonly options: RunOptions;
  readonly console: Console;
  readonly stop: Stop;
  readonly started: number;
  choice: ModelChoice | undefined;
  /** Absent while there is none yet, and where nothing is kept. */
  thread: RunThread | undefined;
}

/** The files a run is about. */
interface Material {
  /** What its changes are counted from. */
  readonly before: Files;
  /** What the agent is given of them: all, or what its thread does not have. */
  readonly given: Files;
  /** As they are when the agent begins. */
  readonly now: Files;
}

export async function runCommand(words: readonly string[], raw: RawRunOptions): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  const stop = new Stop();
  stop.listen((reason) =>
    console.line(reason === "SIGINT" ? "Stopping… (again to quit at once)" : "Stopping…"),
  );
  const run: Run = {
    options: runOptions(raw),
    console,
    stop,
    started: Date.now(),
    choice: undefined,
    thread: undefined,
  };
  try {
    return await execute(words, run);
  } catch (error) {
    return failedEarly(error, run);
  } finally {
    stop.done();
    await closeRunThread(run.thread);
  }
}

async function execute(words: readonly string[], run: Run): Promise<ExitCode> {
  const { options, stop } = run;
  const source = { stdin: process.stdin, carries: stdinCarries() };
  const reading = options.thread === undefined ? taskText(words, source) : optionalTaskText(words, source);
  const task = await orStopped<Task | undefined>(reading, stop);
  if (options.timeout !== undefined) stop.after(options.timeout);
  const out = options.out === undefined ? undefined : await prepareOut(options.out);
  const agent = await orStopped(prepareAgent(run), stop);
  const material = await orStopped(task ? materialFor(run, task, out) : materialLeft(run, agent), stop);
  const result = await runAgent({
    agent,
    task: task?.text,
    files: material.given,
    stop,
    onPart: viewOf(run),
    config: run.thread ? threadConfig(run.thread) : {},
  });
  return finish(run, result, material, out);
}

/** Before the workspace is copied: a model that cannot be used should not cost that time. */
async function prepareAgent(run: Run): Promise<RunnableAgent> {
  const { options } = run;
  const choice = await chooseModel(options, process.env, endpoints);
  run.choice = choice;
  sayChoice(run, choice);
  const [{ createDeepAgent }, model, saver] = await Promise.all([
    import("deepwright"),
    import("../model/load.ts").then(({ loadModel }) => loadModel(choice)),
    options.ephemeral ? undefined : openThread(run),
  ]);
  return createDeepAgent({
    model,
    systemPrompt: { ...(options.system === undefined ? {} : { prefix: options.system }), suffix: SITUATION },
    ...(saver ? { checkpointer: saver, threadClaim: { mode: "refuse", ttl: CLAIM_SECONDS } } : {}),
  }) as unknown as RunnableAgent;
}

async function openThread(run: Run): Promise<RunThread["saver"]> {
  const { options, console, stop } = run;
  const onWait = (milliseconds: number): void =>
    console.line(`The last run of this thread was killed: its claim runs out in ${seconds(milliseconds)}.`);
  run.thread = await openRunThread(options, process.env, onWait, stop.signal);
  return run.thread.saver;
}

/** Every step is on the disk before the next one begins. */
function threadConfig({ id }: RunThread): Record<string, unknown> {
  return { configurable: { thread_id: id }, durability: "sync", metadata: { cwd: process.cwd() } };
}

const SITUATION =
  "The files under / are a copy of the user's directory. Nobody can answer questions during this run: " +
  "do the task as far as you can, then give your answer.";

/** Warnings are said even to those who want it quiet: the offline model is one. */
function sayChoice({ options, console }: Run, choice: ModelChoice): void {
  if (options.detail !== "quiet" || choice.kind === "offline") console.line(safeLine(choiceLine(choice)));
}

/** A new thread gets a copy of the directory, one that goes on what changed there since. */
async function materialFor(run: Run, task: Task, out: string | undefined): Promise<Material> {
  const { options, stop, thread } = run;
  const workspace = await readWorkspace(options.in, WORKSPACE_LIMITS, { signal: stop.signal, out });
  const known = thread?.before;
  if (!known) {
    sayMaterial(run, task, workspace, workspaceLine(workspace, options.in, WORKSPACE_LIMITS));
    return { before: workspace.files, given: workspace.files, now: workspace.files };
  }
  const given = changedSince(known.files, known.at, workspace.files);
  sayMaterial(run, task, workspace, threadLine(known, Object.keys(given)));
  const now = { ...known.files, ...given };
  return { before: now, given, now };
}

/** A run that was broken off goes on with what it had; what it changed before is its work, too. */
async function materialLeft({ options, console, thread }: Run, agent: RunnableAgent): Promise<Material> {
  const known = thread?.before;
  const state = thread && (await agent.getState?.(threadConfig(thread) as never));
  if (!known || !state || state.tasks.length === 0)
    throw usageError(
      "The last run of this thread is finished: there is nothing to go on with.",
      'Say what to do next: deepwright run --thread ID "task".',
    );
  if (options.detail !== "quiet") console.line(`${threadLine(known, [])}; its last run goes on`);
  return { before: await filesAtStart(thread), given: {}, now: known.files };
}

/** What the agent gets to work with. */
function sayMaterial({ options, console }: Run, { note }: Task, { leftOut }: Workspace, line: string): void {
  const quiet = options.detail === "quiet";
  if (note && (!quiet || note.isWarning)) console.line(note.words);
  if (quiet) return;
  console.line(line);
  if (options.detail === "verbose")
    for (const { reason, path } of leftOut) console.line(`  left out (${reason}): ${safeLine(path)}`);
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
  { before, now }: Material,
  out: string | undefined,
): Promise<ExitCode> {
  const { options, console } = run;
  const { ledger, end } = result;
  const after = ledger.files ?? now;
  const changes = changesBetween(before, after);
  const report =
    out === undefined ? undefined : await writeChanges(out, await toWrite(out, changes, now, after), after);
  const refused = report?.refused.length ?? 0;
  const code = exitCodeOf(end) === EXIT.done && refused > 0 ? EXIT.failed : exitCodeOf(end);
  console.endText();
  if (options.detail !== "quiet") sayChanges(run, changes, report);
  if (report) for (const line of refusalLines(report)) console.line(console.colours.red(line));
  sayEnd(run, result, code);
  if (run.thread && options.detail !== "quiet") console.line(`thread: ${safeLine(run.thread.id)}`);
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
      ...(run.thread ? { threadId: run.thread.id } : {}),
      seconds: (Date.now() - run.started) / 1000,
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
    const threadId = run.thread?.before ? { threadId: run.thread.id } : {};
    const data = { type: "run-end", end: end.kind, error: words, exitCode: code, ...threadId };
    console.json(plainJson({ type: "custom", ns: [], data }));
  }
  return code;
}
