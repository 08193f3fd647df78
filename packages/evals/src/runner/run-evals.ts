/** Runs suites: every case in every harness with every model, K trials each, in parallel and within a budget. */
import { checkSuites } from "../format/check-case.ts";
import type { EvalCase, Suite } from "../format/eval-case.ts";
import { EvalsError } from "../format/evals-error.ts";
import type { Harness } from "../harness/harness.ts";
import type { CommandEnd, VerifierTools } from "../verifiers/verifier.ts";
import { runInSandbox } from "./command-runner.ts";
import { isHarborCase } from "./harbor-trial.ts";
import { runTrial } from "./judge-trial.ts";
import type { ModelSource } from "./model-source.ts";
import type { RunReport, TrialRecord } from "./trial-record.ts";
import type { Priced } from "./usage-meter.ts";

/** Stops a run when the trials that ended so far used so much. The trials under way still end. */
export interface RunBudget {
  readonly cost?: number;
  readonly tokens?: number;
  readonly seconds?: number;
}

export interface RunEvalsOptions {
  readonly suites: readonly Suite[];
  readonly harnesses: readonly Harness[];
  readonly models: readonly ModelSource[];
  /** Trials of each case; default 1. */
  readonly trials?: number;
  /** Trials at once; default 1. */
  readonly parallel?: number;
  readonly budget?: RunBudget;
  /** Records of an earlier run of the same plan. Those of infrastructure failures are tried again. */
  readonly done?: readonly TrialRecord[];
  readonly onRecord?: (record: TrialRecord, progress: Progress) => void;
  readonly judge?: (question: string) => Promise<string>;
  readonly runCommand?: (command: string, files: Readonly<Record<string, string>>) => Promise<CommandEnd>;
  readonly price?: Priced;
  /** Ends the run; what is done so far is in the report. */
  readonly signal?: AbortSignal;
}

export interface Progress {
  readonly done: number;
  readonly of: number;
}

interface Place {
  readonly key: string;
  readonly category: string;
  readonly given: EvalCase;
  readonly harness: Harness;
  readonly models: ModelSource;
  readonly trial: number;
}

/** Throws an `EvalsError` for a bad case or plan, before anything is spent. */
export async function runEvals(options: RunEvalsOptions): Promise<RunReport> {
  const places = planOf(options);
  const records = new Map<string, TrialRecord>();
  const known = new Set(places.map(({ key }) => key));
  for (const record of options.done ?? [])
    if (record.status !== "infrastructure" && known.has(keyOf(record))) records.set(keyOf(record), record);
  const open = places.filter(({ key }) => !records.has(key));
  const spending = new Spending(options.budget ?? {}, [...records.values()]);
  let stopReason: string | undefined;
  const worker = async () => {
    for (;;) {
      stopReason ??= options.signal?.aborted ? "stopped" : spending.over();
      const place = stopReason === undefined ? open.shift() : undefined;
      if (place === undefined) return;
      const record = await trialOf(place, options);
      if (record === undefined) continue;
      records.set(place.key, record);
      spending.add(record);
      options.onRecord?.(record, { done: records.size, of: places.length });
    }
  };
  await Promise.all(Array.from({ length: options.parallel ?? 1 }, worker));
  return {
    version: 1,
    harnesses: options.harnesses.map(({ name }) => name),
    models: options.models.map(({ name }) => name),
    ...versionsOf(options.harnesses),
    trials: options.trials ?? 1,
    complete: records.size === places.length,
    ...(stopReason === undefined ? {} : { stopReason }),
    records: places.flatMap(({ key }) => records.get(key) ?? []),
  };
}

function versionsOf(harnesses: readonly Harness[]): Pick<RunReport, "versions"> {
  const known = harnesses.flatMap(({ name, version }) => (version === undefined ? [] : [[name, version]]));
  return known.length === 0 ? {} : { versions: Object.fromEntries(known) };
}

/** Throws what `runEvals` would throw before its first trial. */
export function checkPlan(
  options: Pick<RunEvalsOptions, "suites" | "harnesses" | "models" | "trials" | "parallel" | "judge">,
): void {
  planOf(options);
}

export function keyOf(
  record: Pick<TrialRecord, "category" | "case" | "harness" | "model" | "trial">,
): string {
  return JSON.stringify([record.category, record.case, record.harness, record.model, record.trial]);
}

function planOf({ suites, harnesses, models, trials = 1, parallel = 1, judge }: RunEvalsOptions): Place[] {
  checkSuites(suites);
  if (judge === undefined) refuseJudges(suites);
  const others = harnesses.filter(({ name }) => name !== "deepwright");
  if (others.length > 0 && suites.some(({ cases }) => cases.some(isHarborCase)))
    throw new EvalsError(`Harbor tasks run on Deepwright alone, not on ${others[0]?.name}.`);
  for (const [name, value] of Object.entries({ trials, parallel }))
    if (!Number.isInteger(value) || value < 1)
      throw new EvalsError(`The option '${name}' must be a whole number from 1 on, not ${value}.`);
  if (harnesses.length === 0 || models.length === 0)
    throw new EvalsError("There is no harness or no model to run.");
  const places = suites.flatMap(({ category, cases }) =>
    cases.flatMap((given) =>
      harnesses.flatMap((harness) =>
        models.flatMap((source) =>
          Array.from({ length: trials }, (_, index) => {
            const trial = index + 1;
            const key = keyOf({ category, case: given.id, harness: harness.name, model: source.name, trial });
            return { key, category, given, harness, models: source, trial };
          }),
        ),
      ),
    ),
  );
  const scriptless = places.find(({ models: { scripted }, given }) => scripted && given.script === undefined);
  if (scriptless !== undefined)
    throw new EvalsError(
      `${scriptless.category}/${scriptless.given.id} has no script: it needs a live model.`,
      "Name one with --model.",
    );
  return places;
}

/** A judge that nobody named would be missed only when the trials are paid for. */
function refuseJudges(suites: readonly Suite[]): void {
  for (const { category, cases } of suites)
    for (const { id, verify } of cases)
      if (verify.some(({ judged }) => judged))
        throw new EvalsError(
          `${category}/${id} asks a judge model, and none is named.`,
          "Name one with --judge.",
        );
}

/** Undefined when the run was stopped in the middle of the trial. */
async function trialOf(place: Place, options: RunEvalsOptions): Promise<TrialRecord | undefined> {
  const { category, given, harness, models, trial } = place;
  const { price, signal, judge, runCommand = runInSandbox } = options;
  const verifierTools: VerifierTools = { runCommand, judge, signal };
  try {
    return await runTrial({ case: given, category, harness, models, trial, price, signal, verifierTools });
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
}

/** Infrastructure failures that follow each other until a run ends: the next trials would only fail, too. */
const MOST_BROKEN = 10;

/** Usage of all trials so far beside the budget of the run. */
class Spending {
  private readonly budget: RunBudget;
  private readonly started = performance.now();
  private cost = 0;
  private tokens = 0;
  private broken = 0;

  constructor(budget: RunBudget, before: readonly TrialRecord[]) {
    this.budget = budget;
    for (const record of before) this.add(record);
  }

  add({ usage, status }: TrialRecord): void {
    this.broken = status === "infrastructure" ? this.broken + 1 : 0;
    this.cost += usage.cost ?? 0;
    this.tokens += usage.inputTokens + usage.outputTokens;
  }

  over(): string | undefined {
    const { cost = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY, seconds } = this.budget;
    if (this.broken >= MOST_BROKEN) return `${this.broken} trials in a row had infrastructure failures`;
    if (this.cost >= cost) return `the budget of $${cost} is used up`;
    if (this.tokens >= tokens) return `the budget of ${tokens} tokens is used up`;
    const isLate = seconds !== undefined && performance.now() - this.started >= seconds * 1000;
    return isLate ? `the budget of ${seconds} seconds is used up` : undefined;
  }
}
