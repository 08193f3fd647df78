/** The report at the end of a run, as text and as JSON. */
import type { Mcp } from "@deepwright/mcp";
import type { DeniedCall } from "../../approval/approver.ts";
import type { Commands } from "../../commands/commands.ts";
import type { ThreadSandbox } from "../../commands/thread-sandbox.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { type ModelChoice, modelName } from "../../model/choice.ts";
import type { Console } from "../../terminal/console.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { isUnchanged, NO_CHANGES } from "../changes.ts";
import type { RunResult } from "../run-agent.ts";
import type { RunOptions } from "../run-options.ts";
import type { RunThread } from "../run-thread.ts";
import type { Stop } from "../stop.ts";
import type { StreamPart } from "../stream-part.ts";
import type { WorkOutcome, Workplace } from "../workplace.ts";
import { commandWorkLines } from "./command-work-lines.ts";
import { continueHint } from "./continue-hint.ts";
import { failureWords } from "./failure-words.ts";
import { plainJson } from "./plain-json.ts";
import { endWords, exitCodeOf, figures } from "./run-end.ts";
import { changeLines, notWrittenLines, previewLines, writtenLine } from "./workspace-lines.ts";

/** Data shared by the steps of one run. */
export interface Run {
  readonly options: RunOptions;
  readonly console: Console;
  readonly stop: Stop;
  readonly started: number;
  choice: ModelChoice | undefined;
  /** Absent while there is none yet. */
  thread: RunThread | undefined;
  /** Where it works, as soon as that is known. */
  sandbox: ThreadSandbox | undefined;
  /** Runs its commands; set when opening begins. */
  commands: Promise<Commands | undefined> | undefined;
  /** Its MCP servers, as soon as they are being opened. */
  mcp: Promise<Mcp | undefined> | undefined;
  /** All that is opened before the agent runs. */
  opening: Promise<unknown> | undefined;
}

/** A run that had an agent, when it is over. */
export interface Finished extends RunResult {
  readonly workplace: Workplace;
  /** The number of the thread's newest image when it began. */
  readonly since: number;
  readonly denied: readonly DeniedCall[];
}

export async function reportEnd(run: Run, finished: Finished): Promise<ExitCode> {
  const { options, console, thread } = run;
  const { end, workplace, since, denied } = finished;
  const code = exitCodeOf(end, denied.length);
  console.endText();
  const work = await workOf(run, workplace, since);
  sayWork(run, work, workplace);
  for (const line of deniedLines(denied)) console.line(console.colours.red(line));
  sayEnd(run, finished);
  if (thread?.isKept && options.detail !== "quiet") console.line(`thread: ${safeLine(thread.id)}`);
  const goOn = continueHint(end, finished.ledger.pending.length, run);
  if (goOn !== undefined) console.line(goOn);
  if (options.json) console.json(plainJson(endPart(run, finished, work, await costOfRun(run, finished))));
  return code;
}

/** Dollars; undefined where the price of the model is not known. */
async function costOfRun({ choice }: Run, { ledger }: Finished): Promise<number | undefined> {
  if (choice?.kind !== "provider") return undefined;
  const { costOf, priceOf } = await import("deepwright/internal");
  const price = priceOf(choice.model);
  const { input, output } = ledger.usage;
  return price && costOf({ input, output, cacheRead: ledger.cached, cacheWrite: 0 }, price);
}

/** A database that fails now must not hide how the run ended. */
async function workOf({ thread, console }: Run, workplace: Workplace, since: number): Promise<WorkOutcome> {
  const none = { changes: NO_CHANGES, preview: undefined };
  if (!thread) return none;
  try {
    return await workplace.outcome(thread.saver, thread.id, since);
  } catch (error) {
    const words = safeLine(failureWords(error, undefined, process.env), 500);
    console.line(console.colours.red(`The changed files are not known: ${words}`));
    return none;
  }
}

function sayWork({ options, console }: Run, work: WorkOutcome, { directory, notWritten }: Workplace): void {
  const { changes, preview, commands } = work;
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
  if (commands && !isQuiet) for (const line of commandWorkLines(commands, colours)) console.line(line);
  for (const line of notWrittenLines(notWritten)) console.line(colours.red(line));
}

/** `Denied: write_file (2 calls): no person is here to approve`. */
function deniedLines(denied: readonly DeniedCall[]): readonly string[] {
  const amounts = new Map<string, number>();
  for (const { tool, agentPath } of denied) {
    const who = agentPath.length > 0 ? ` by ${agentPath.join(" › ")}` : "";
    const what = safeLine(`${tool}${who}`, 200);
    amounts.set(what, (amounts.get(what) ?? 0) + 1);
  }
  return [...amounts].map(
    ([what, amount]) =>
      `Denied: ${what}${amount > 1 ? ` (${amount} calls)` : ""}: no person is here to approve it`,
  );
}

function sayEnd(run: Run, { end, ledger, denied }: Finished): void {
  const { colours } = run.console;
  const isDone = exitCodeOf(end, denied.length) === EXIT.done;
  if (isDone && run.options.detail === "quiet") return;
  const words = safeLine(endWords(end, failureOf(run, end), denied.length), 1_000);
  const mark = isDone ? colours.green("✔") : colours.red("✘");
  run.console.line(`${mark} ${words} · ${figures(Date.now() - run.started, ledger)}`);
}

export function failureOf(run: Run, end: RunResult["end"]): string {
  return end.kind === "failed" ? failureWords(end.error, run.choice, process.env) : "";
}

/** The last line of --json: a part like the others, with the result for scripts. */
function endPart(
  run: Run,
  { end, ledger, denied, workplace }: Finished,
  { changes, preview, commands }: WorkOutcome,
  cost: number | undefined,
): StreamPart {
  const { directory, notWritten } = workplace;
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
      exitCode: exitCodeOf(end, denied.length),
      ...(run.thread?.isKept ? { threadId: run.thread.id } : {}),
      seconds: (Date.now() - run.started) / 1000,
      ...(run.choice ? { model: modelName(run.choice) } : {}),
      usage: ledger.usage,
      ...(cost === undefined ? {} : { cost }),
      toolCalls: ledger.toolCalls,
      directory,
      changes,
      notWritten,
      ...(commands ? { commands } : {}),
      ...(denied.length > 0 ? { denied } : {}),
      ...(preview
        ? { dryRun: true, patches: preview.map(({ path, patch = null }) => ({ path, patch })) }
        : {}),
    },
  };
}
