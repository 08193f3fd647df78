/** `deepwright eval`. Returns the exit code. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Progress as Done, Journal, RunReport } from "@deepwright/evals";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { Stop } from "../run/stop.ts";
import { homeOf } from "../state/home.ts";
import { Console } from "../terminal/console.ts";
import { Progress } from "../terminal/progress.ts";
import { safeLine, safeText } from "../terminal/safe-text.ts";
import { recordCassette, replayCassettes } from "./cassette-commands.ts";
import type { EvalRequest, RawEvalOptions } from "./eval-command-line.ts";
import { checkPrices, judgeOf, priceOf, sourcesOf } from "./eval-models.ts";
import { harnessesOf, suitesOf } from "./eval-suites.ts";

type Evals = typeof import("@deepwright/evals");

export async function evalCommand(request: EvalRequest): Promise<ExitCode> {
  const evals = await import("@deepwright/evals");
  return asCommand(evals, () => {
    switch (request.action) {
      case "run":
        return runSuites(request.suites, request.options, evals);
      case "compare":
        return compareReports(request.before, request.after, evals);
      case "record":
        return recordCassette(request.record, request.options, evals);
      case "replay":
        return replayCassettes(request.files, evals);
    }
  });
}

async function runSuites(names: readonly string[], options: RawEvalOptions, evals: Evals): Promise<ExitCode> {
  const amounts = amountsOf(options);
  const baseline =
    typeof options.worseThan === "string" ? await reportAt(options.worseThan, evals) : undefined;
  const isLive = options.model !== undefined;
  const plan = {
    suites: await suitesOf(names, evals, isLive),
    harnesses: await harnessesOf(options, evals, isLive),
    models: await sourcesOf(options, evals),
    trials: amounts.trials ?? 1,
    judge: await judgeOf(options),
  };
  evals.checkPlan({ ...plan, parallel: amounts.parallel });
  checkPrices(plan.models, dollarLimitIn(amounts, plan.suites));
  await makeFolders(options);
  const journal = openJournal(options, plan, evals);
  const report = await run(plan, amounts, options, journal, evals);
  await writeReports(report, options, evals);
  const isOver = report.complete && report.records.every(({ status }) => status !== "infrastructure");
  if (isOver) journal.remove();
  return show(report, isOver ? undefined : journal.path, amounts.min, baseline, evals);
}

/** The option or cases that set a limit in dollars; undefined without one. */
function dollarLimitIn({ maxCost }: Amounts, suites: Plan["suites"]): string | undefined {
  if (maxCost !== undefined) return "--max-cost";
  const found = suites.flatMap(({ category, cases }) =>
    cases.filter(({ limits }) => limits.cost !== undefined).map(({ id }) => `${category}/${id}`),
  );
  return found[0] && `The limit of ${found[0]} in dollars`;
}

async function compareReports(before: string, after: string, evals: Evals): Promise<ExitCode> {
  const [one, other] = await Promise.all([reportAt(before, evals), reportAt(after, evals)]);
  newConsole().result(safeText(evals.compareText(one, other)));
  return EXIT.done;
}

type Plan = Pick<Parameters<Evals["runEvals"]>[0], "suites" | "harnesses" | "models" | "trials" | "judge">;

async function run(
  plan: Plan,
  amounts: Amounts,
  options: RawEvalOptions,
  journal: Journal,
  evals: Evals,
): Promise<RunReport> {
  const progress = new Progress(process.stderr);
  const stop = new Stop();
  stop.listen(() => progress.end());
  const report = await evals.runEvals({
    ...plan,
    parallel: amounts.parallel ?? (options.model === undefined ? 1 : 4),
    budget: { cost: amounts.maxCost, tokens: amounts.maxTokens, seconds: amounts.maxSeconds },
    done: journal.done,
    price: priceOf,
    signal: stop.signal,
    onRecord: (record, { done, of }: Done) => {
      journal.add(record);
      progress.show(`${done} of ${of} trials · ${record.status} ${record.category}/${record.case}`);
    },
  });
  progress.end();
  return report;
}

function openJournal({ resume }: RawEvalOptions, plan: Plan, { Journal, planHash }: Evals) {
  if (resume !== undefined) return Journal.resume(resume, planHash(plan));
  const name = `${new Date().toISOString().replaceAll(/[:.]/g, "-")}-${process.pid}.jsonl`;
  return Journal.create(join(homeOf(process.env), "evals", name), planHash(plan));
}

/** Before anything is spent. */
async function makeFolders({ json, junit, html }: RawEvalOptions): Promise<void> {
  for (const file of [json, junit, html])
    if (file !== undefined)
      await mkdir(dirname(resolve(file)), { recursive: true }).catch((cause: Error) => {
        throw new CommandError(`${file} cannot be written: ${cause.message}`, { cause });
      });
}

async function writeReports(
  report: RunReport,
  { json, junit, html }: RawEvalOptions,
  evals: Evals,
): Promise<void> {
  if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 1)}\n`);
  if (junit !== undefined) await writeFile(junit, evals.junitOf(report));
  if (html !== undefined) await writeFile(html, evals.htmlOf(report));
}

function show(
  report: RunReport,
  journal: string | undefined,
  min: number | undefined,
  baseline: RunReport | undefined,
  evals: Evals,
): ExitCode {
  const console = newConsole();
  console.result(safeText(evals.tableOf(report)));
  for (const line of failureLines(report)) console.line(safeLine(line, 300));
  if (journal !== undefined)
    console.line(safeLine(`${stopWords(report)} Continue with the same words and --resume ${journal}`, 400));
  const counted = report.records.filter(({ status }) => status !== "infrastructure");
  const share = counted.filter(({ status }) => status === "passed").length / Math.max(1, counted.length);
  const problems = [
    ...(min !== undefined && share < min
      ? [`${share.toFixed(3)} of the trials passed, less than ${min}.`]
      : []),
    ...[baseline === undefined ? undefined : evals.worseThan(baseline, report)].filter(
      (each) => each !== undefined,
    ),
  ];
  for (const problem of problems) console.line(safeLine(problem, 400));
  return problems.length > 0 || journal !== undefined ? EXIT.failed : EXIT.done;
}

/** One for all trials of a case that failed alike. */
function failureLines({ records }: RunReport): string[] {
  const trials = new Map<string, [head: string, reason: string, trials: number[]]>();
  for (const { category, case: id, harness, model, trial, reason = "", status } of records) {
    if (status === "passed") continue;
    const head = `${status}: ${category}/${id} (${harness}, ${model}`;
    const known = trials.get(`${head}\n${reason}`) ?? [head, reason, []];
    known[2].push(trial);
    trials.set(`${head}\n${reason}`, known);
  }
  return [...trials.values()].map(
    ([head, reason, found]) => `${head}, trial${found.length > 1 ? "s" : ""} ${found.join(" ")}): ${reason}`,
  );
}

function stopWords({ complete, stopReason, records }: RunReport): string {
  const broken = records.filter(({ status }) => status === "infrastructure").length;
  const missing = `${broken} of ${records.length} trials had infrastructure failures and do not count.`;
  if (complete) return missing;
  return `Stopped: ${stopReason ?? "some trials are missing"}.${broken === 0 ? "" : ` ${missing}`}`;
}

interface Amounts {
  readonly trials?: number;
  readonly parallel?: number;
  readonly maxCost?: number;
  readonly maxTokens?: number;
  readonly maxSeconds?: number;
  readonly min?: number;
}

const NUMBERS = ["trials", "parallel", "maxCost", "maxTokens", "maxSeconds", "min"] as const;

function amountsOf(options: RawEvalOptions): Amounts {
  const found = NUMBERS.flatMap((name) => {
    const text = options[name];
    if (text === undefined) return [];
    const value = Number(text);
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (text.trim() === "" || !Number.isFinite(value) || value < 0)
      throw usageError(`${flag} needs a number, not '${text}'.`);
    return [[name, value]];
  });
  const amounts = Object.fromEntries(found) as Amounts;
  if ((amounts.min ?? 0) > 1) throw usageError(`--min is a share from 0 to 1, not ${amounts.min}.`);
  return amounts;
}

async function reportAt(path: string, { readReport }: Evals): Promise<RunReport> {
  const text = await readFile(path, "utf8").catch((cause: Error) => {
    throw new CommandError(`${path} cannot be read: ${cause.message}`);
  });
  return readReport(text, path);
}

/** A bad case or plan is the user's to correct. */
async function asCommand({ EvalsError }: Evals, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EvalsError)
      throw new CommandError(error.message, { exitCode: EXIT.usage, cause: error });
    throw error;
  }
}

function newConsole(): Console {
  return new Console(process.stdout, process.stderr, process.env);
}
