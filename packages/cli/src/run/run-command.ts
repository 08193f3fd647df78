/** `deepwright run`: puts the pieces together. Returns the exit code. */
import { Approver, isAttended } from "../approval/approver.ts";
import { CommandError, usageError } from "../command-error.ts";
import { type Commands, closeCommands } from "../commands/commands.ts";
import type { NoCommands } from "../commands/open-commands.ts";
import { isCloud, sandboxWithSettings } from "../commands/sandbox-kind.ts";
import { placeOf, sandboxFlags, sandboxOfRun, type ThreadSandbox } from "../commands/thread-sandbox.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Hooks } from "../hooks/hooks.ts";
import { choiceLine, type ModelChoice } from "../model/choice.ts";
import { chooseModel, type ModelWish } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { settingsWish } from "../settings/model-wish.ts";
import type { Settings } from "../settings/schema.ts";
import { removeOldSnapshots, type SnapshotLimits, snapshotLimits } from "../state/old-snapshots.ts";
import { seconds } from "../terminal/amounts.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { type DirectoryTrust, trustLine } from "../trust/directory-trust.ts";
import type { UserCommand } from "../user-files/user-commands.ts";
import { openWebTools } from "../web/web-tools.ts";
import { directoryWarning, realDirectory } from "./directory.ts";
import { type Kept, keptWith } from "./kept-with-thread.ts";
import { type Knowledge, knowledgeLine } from "./knowledge.ts";
import { plainJson } from "./output/plain-json.ts";
import { ProgressView } from "./output/progress-view.ts";
import { endWords, exitCodeOf } from "./output/run-end.ts";
import { failureOf, type Run, reportEnd } from "./output/run-report.ts";
import { movedLine, threadLine, workspaceLine } from "./output/workspace-lines.ts";
import type { RunnableAgent, RunResult } from "./run-agent.ts";
import { imagesBefore, imagesBeforeInput } from "./run-changes.ts";
import { type RunInput, runInput } from "./run-input.ts";
import { type RawRunOptions, type RunOptions, runOptions } from "./run-options.ts";
import type { RunSettings } from "./run-settings.ts";
import { closeRunThread, openRunThread, type RunThread } from "./run-thread.ts";
import { runToEnd } from "./run-to-end.ts";
import { stdinCarries } from "./stdin-kind.ts";
import { Stop } from "./stop.ts";
import { INTERRUPT, type StreamPart } from "./stream-part.ts";
import { optionalTaskText, type Task, taskText } from "./task-text.ts";
import { type DirectoryFiles, openDirectory, openWorkplace, type Workplace } from "./workplace.ts";

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
    sandbox: undefined,
    commands: undefined,
    mcp: undefined,
    opening: undefined,
  };
  try {
    return await execute(words, run);
  } catch (error) {
    return failedEarly(error, run);
  } finally {
    stop.done();
    // A process that ends while a native module is being loaded is aborted by it.
    await settledSoon(run.opening);
    await Promise.all([closeCommands(run.commands), closeCommands(run.mcp), closeRunThread(run.thread)]);
  }
}

async function execute(words: readonly string[], run: Run): Promise<ExitCode> {
  const { options, stop } = run;
  const source = { stdin: process.stdin, carries: stdinCarries() };
  const reading = options.thread === undefined ? taskText(words, source) : optionalTaskText(words, source);
  const task = await orStopped<Task | undefined>(reading, stop);
  if (options.timeout !== undefined) stop.after(options.timeout);
  const directory = await orStopped(realDirectory(options.in), stop);
  const preparing = prepare(run, directory, task);
  run.opening = preparing;
  const prepared = await orStopped(preparing, stop);
  const { agent, workplace, thread, text, hooks } = prepared;
  const config = threadConfig(thread, directory);
  const beginning = await orStopped(runInput(prepared, config, text, options), stop);
  const images = task ? imagesBefore(thread.saver, thread.id) : imagesBeforeInput(thread.saver, thread.id);
  const since = await orStopped(images, stop);
  await saySituation(run, task, beginning, prepared);
  await orStopped(startHooks(hooks, thread.id, text, stop), stop);
  const approver = approverFor(run, prepared);
  const { input, open } = beginning;
  const result = await runToEnd({ agent, input, stop, onPart: viewOf(run), config }, approver, open);
  const code = await reportEnd(run, { ...result, workplace, since, denied: approver.denied });
  await hooks?.run("run-end", { threadId: thread.id, end: result.end.kind, exitCode: code });
  const { saver, isKept } = thread;
  if (isKept) await removeOldSnapshots({ saver, db: options.db, limits: prepared.limits }, process.env);
  return code;
}

/** A hook that refuses the run ends it before the model is asked. */
async function startHooks(
  hooks: Hooks | undefined,
  threadId: string,
  task: string | undefined,
  { signal }: Stop,
): Promise<void> {
  const verdict = await hooks?.run("run-start", { threadId, ...(task !== undefined && { task }) }, signal);
  if (verdict?.refused !== undefined) throw new CommandError(`A hook refused the run: ${verdict.refused}`);
}

/** With --json the caller is a program: it reads the question and answers with another run. */
function approverFor(
  { options, console, stop }: Run,
  { thread: { isKept }, workplace: { controlPaths } }: Prepared,
): Approver {
  const { yes, json, wait, answer } = options;
  const person = { stdin: process.stdin, stderr: process.stderr };
  const { env: environment } = process;
  const nobody = isKept && (json || wait) ? "wait" : "deny";
  const mode = !json && !wait && isAttended(person, environment) ? "ask" : nobody;
  const around = { console, person, environment, signal: stop.signal, controlPaths };
  return new Approver({ mode: yes ? "approve" : mode, first: answer }, around);
}

interface Prepared {
  readonly agent: RunnableAgent;
  /** Values to store with the thread, by state key. */
  readonly keeps: Record<string, unknown>;
  readonly workplace: Workplace;
  readonly thread: RunThread;
  /** The task, with a command's text in the place of its name. */
  readonly text: string | undefined;
  readonly hooks: Hooks | undefined;
  readonly limits: SnapshotLimits;
}

async function prepare(run: Run, directory: string, task: Task | undefined): Promise<Prepared> {
  const { options, console } = run;
  const isAsking = !options.json && !options.wait && isAttended(process, process.env);
  const { openRunSettings, openUserFiles } = await import("./run-settings.ts");
  const set = await openRunSettings({ directory, console, isAttended: isAsking, isTrusted: options.trust });
  const files = await openDirectory(directory, set.hookFiles);
  const isElsewhere = isCloud(options.sandbox.kind);
  const own = await openUserFiles(directory, isElsewhere ? undefined : files.disk, options.trust);
  if (own.line !== undefined) console.line(console.colours.yellow(own.line));
  const { text, wish } = await taskAndModel(options, set, own.commands, task);
  const choice = await chooseModel(wish, process.env, endpoints);
  run.choice = choice;
  sayChoice(run, choice);
  run.mcp = mcpFor(run, directory, choice, set.settings);
  const mcp = await run.mcp;
  const { agentAdditions, loadNamedModels } = await import("./agent-additions.ts");
  const named = [...(set.settings.fallbacks ?? []), ...own.agents.map(({ modelName }) => modelName)];
  const [library, { makeAgent }, model, models, opened] = await Promise.all([
    import("deepwright"),
    import("./make-agent.ts"),
    import("../model/load.ts").then(({ loadModel }) => loadModel(choice)),
    choice.kind === "offline" ? new Map() : loadNamedModels(named, console),
    openThreadAndCommands(run, files, choice, { hasTask: task !== undefined, settings: set.settings }),
  ]);
  const { thread, commands, sandbox, kept } = opened;
  const knowledge = { ...options, memoryFiles: set.settings.memory?.files };
  const workplace = await openWorkplace(files, knowledge, commands, process.env);
  const { asked } = kept;
  const additions = agentAdditions(library, set, { agents: own.agents, models, mcp });
  const asks = set.settings.mode === "ask" && asked.kept === undefined ? "changes" : undefined;
  const web = await openWebTools(sandbox.hosts, placeOf(sandbox), process.env);
  const parts = {
    web,
    ...{ options: { ...options, ask: options.ask ?? asks }, console, choice, model, workplace, thread },
    ...{ asked, sandbox, commands, mcp, settings: set, additions },
  };
  const { hooks, settings } = set;
  return { ...makeAgent(library, parts), workplace, thread, text, hooks, limits: snapshotLimits(settings) };
}

/** A task `/name words` is the text of that command, which may name a model. */
async function taskAndModel(
  options: RunOptions,
  { loaded }: RunSettings,
  commands: readonly UserCommand[],
  task: Task | undefined,
): Promise<{ readonly text: string | undefined; readonly wish: ModelWish }> {
  const { expandCommand } = await import("../user-files/user-commands.ts");
  const expanded = task?.text.startsWith("/") ? expandCommand(task.text, commands) : undefined;
  const { model: _, ...settings } = settingsWish(loaded);
  const ofCommand = expanded?.command.model;
  const model = ofCommand
    ? { value: ofCommand, source: `/${expanded.command.name}` }
    : settingsWish(loaded).model;
  return { text: expanded?.text ?? task?.text, wish: { ...options, settings: { ...settings, model } } };
}

/** The offline model calls no servers, and a dry run could not hold back their effects. */
async function mcpFor(
  { options, console, stop }: Run,
  directory: string,
  choice: ModelChoice,
  { mcpServers: servers }: Settings,
) {
  if (!options.mcp || options.dryRun || choice.kind === "offline") return undefined;
  const { openRunMcp } = await import("../mcp/open-run-mcp.ts");
  const isAsking = !options.json && !options.wait && isAttended(process, process.env);
  const isQuiet = options.detail === "quiet";
  return openRunMcp({ directory, console, isAttended: isAsking, isQuiet, signal: stop.signal, servers });
}

interface ThreadAndCommands {
  readonly files: DirectoryFiles;
  readonly thread: RunThread;
  readonly kept: Kept;
  readonly sandbox: ThreadSandbox;
  readonly commands: Commands | undefined;
}

async function openThreadAndCommands(
  run: Run,
  files: DirectoryFiles,
  choice: ModelChoice,
  { hasTask, settings }: { readonly hasTask: boolean; readonly settings: Settings },
): Promise<ThreadAndCommands> {
  const thread = await openThread(run);
  const kept = await keptWith(thread);
  const { directory } = files;
  const isWaiting = kept.asked.waiting.length > 0;
  const given = kept.sandbox ? run.options.sandbox : sandboxWithSettings(run.options.sandbox, settings);
  const sandbox = sandboxOfRun(given, kept.sandbox, { directory, hasTask, isWaiting });
  run.sandbox = sandbox;
  if (needsCommands(run, sandbox, choice)) run.commands = openedCommands(run, files, thread, sandbox);
  return { files, thread, kept, sandbox, commands: await run.commands };
}

/**
 * The offline model runs no commands, and a dry run could not hold back their effects. A sandbox in a cloud is needed
 * for its files too.
 */
function needsCommands({ options, stop }: Run, { kind }: ThreadSandbox, choice: ModelChoice): boolean {
  if (options.dryRun && isCloud(kind))
    throw usageError(
      `--dry-run shows changes of the directory, and with --sandbox ${kind} the files are in the cloud.`,
    );
  return !options.dryRun && !stop.signal.aborted && (choice.kind !== "offline" || isCloud(kind));
}

async function openedCommands(
  run: Run,
  files: DirectoryFiles,
  { id: threadId, isKept }: RunThread,
  sandbox: ThreadSandbox,
): Promise<Commands | undefined> {
  const { console, stop } = run;
  const { openCommands } = await import("../commands/open-commands.ts");
  const onWait = (words: string): void => console.line(words);
  const { disk, controlPaths } = files;
  const request = { ...sandbox, files: disk, controlPaths, threadId, isKept, signal: stop.signal, onWait };
  const opened = await openCommands(request);
  sayCommands(run, opened);
  return opened && "why" in opened ? undefined : opened;
}

function sayCommands({ options, console, sandbox }: Run, opened: Commands | NoCommands | undefined): void {
  const isQuiet = options.detail === "quiet";
  if (opened === undefined) {
    if (!isQuiet && !options.sandbox.isAskedFor && sandbox)
      console.line(`Commands: none (${sandboxFlags(sandbox)}, as before in this thread)`);
    return;
  }
  const { red, yellow } = console.colours;
  if ("why" in opened) console.line(yellow(safeLine(opened.why, 1_000)));
  else if (opened.isWarning) console.line(red(opened.line));
  else if (!isQuiet) console.line(safeLine(opened.line, 1_000));
}

async function openThread(run: Run): Promise<RunThread> {
  const { options, console, stop } = run;
  const onWait = (milliseconds: number): void =>
    console.line(`The last run of this thread was killed: its claim expires in ${seconds(milliseconds)}.`);
  run.thread = await openRunThread(options, process.env, onWait, stop.signal);
  return run.thread;
}

/** Every step is on the disk before the next one begins. */
function threadConfig({ id }: RunThread, directory: string): Record<string, unknown> {
  return { configurable: { thread_id: id }, durability: "sync", metadata: { cwd: directory } };
}

/** Warnings are printed even with --quiet: the offline model is one. */
function sayChoice({ options, console }: Run, choice: ModelChoice): void {
  if (options.detail !== "quiet" || choice.kind === "offline") console.line(safeLine(choiceLine(choice)));
}

/** Prints the model, directory and tools of the run. */
async function saySituation(
  { options, console, sandbox }: Run,
  task: Task | undefined,
  { open, note }: RunInput,
  { thread: { before }, workplace: { directory, knowledge, trust } }: Prepared,
): Promise<void> {
  const isQuiet = options.detail === "quiet";
  const cloud = sandbox && isCloud(sandbox.kind) ? sandbox.kind : undefined;
  const say = (line: string | undefined, isWarning = false): void => {
    if (line !== undefined && (isWarning || !isQuiet)) console.line(line);
  };
  say(task?.note?.words, task?.note?.isWarning);
  say(workspaceLine(directory, options.dryRun, cloud));
  if (cloud === undefined) say(await directoryWarning(directory), true);
  for (const warning of knowledge.warnings) say(`Warning: ${warning}`, true);
  const known = knowledgeLine(knowledge);
  say(known && console.colours.dim(known));
  say(trustLine(trust, options.in), true);
  if (options.json) console.json(plainJson(startPart(directory, knowledge, trust)));
  if (!before) return;
  say(
    `${threadLine(before)}${task ? "" : open.length > 0 ? "; it waits for approval" : "; its last run continues"}`,
  );
  say(note, true);
  if (cloud === undefined) say(movedLine(before, directory), true);
  if (options.json && open.length > 0)
    console.json(plainJson({ type: "updates", ns: [], data: { [INTERRUPT]: open } }));
}

/** The first line of --json. */
function startPart(
  directory: string,
  { memory, skills }: Knowledge,
  { untrusted }: DirectoryTrust,
): StreamPart {
  const data = { type: "run-start", directory, memory, skills, ...(untrusted.length > 0 && { untrusted }) };
  return { type: "custom", ns: [], data };
}

/** With --json the state itself is left out: it would repeat every message at every step. */
function viewOf({ options, console }: Run): (part: StreamPart) => void {
  if (options.json)
    return (part) => {
      if (part.type !== "values") console.json(plainJson(part));
    };
  const view = new ProgressView(console, options.detail);
  return (part) => view.take(part);
}

const OPENING_MS = 2_000;

async function settledSoon(work: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, OPENING_MS);
  });
  await Promise.race([work?.catch(() => {}), patience]);
  clearTimeout(timer);
}

/** Before the agent runs there is nothing to save: a stop ends it here. */
async function orStopped<T>(work: Promise<T>, { signal }: Stop): Promise<T> {
  let leave = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
  });
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener("abort", leave));
}

function failedEarly(error: unknown, run: Run): ExitCode {
  const { console, stop } = run;
  const end: RunResult["end"] =
    stop.reason === undefined ? { kind: "failed", error } : { kind: "stopped", by: stop.reason };
  const code = end.kind === "failed" && error instanceof CommandError ? error.exitCode : exitCodeOf(end);
  const words = end.kind === "failed" ? failureOf(run, end) : endWords(end);
  console.line(console.colours.red(`deepwright: ${words}`));
  if (run.options.json) {
    const threadId = run.thread?.before && run.thread.isKept ? { threadId: run.thread.id } : {};
    const data = { type: "run-end", end: end.kind, error: words, exitCode: code, ...threadId };
    console.json(plainJson({ type: "custom", ns: [], data }));
  }
  return code;
}
