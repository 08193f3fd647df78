/** processes killed at random moments, and others that go on in their place. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Arrival, audit, type Repetitions } from "../audit.ts";
import { effectsIn } from "../effects.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { Plan, RunResult } from "../plan.ts";
import type { ChaosSite } from "../site.ts";
import { integrityOf } from "../sqlite-file.ts";
import { type WorkerError, WorkerGone, type WorkerProcess } from "../worker-process.ts";

export interface KillAnywhereParameters {
  /** There are more when kills are left, because runs ended before theirs came. */
  readonly runs: number;
  readonly kills: number;
  /** Runs at a time; all are in one database. */
  readonly lanes: number;
}

/** One run and all processes that worked on it. */
interface Case {
  readonly plan: Plan;
  readonly log: string;
  readonly database: string;
  readonly arrivals: Arrival[];
  /** Kills still to come. */
  due: number;
}

const CLAIM = { mode: "queue", ttl: 1 } as const;
const TURNS = 24;
/** Longest time from a worker's first act to its kill: several fit into one run. */
const LONGEST_LIFE_MS = 200;
/** Longest life of a worker that is killed while it starts, waits for the thread or reads it. */
const LONGEST_START_MS = 1_600;
const SHARE_OF_EARLY_KILLS = 0.2;

export async function killAnywhere(site: ChaosSite, parameters: KillAnywhereParameters): Promise<Outcome> {
  const { runs, lanes } = parameters;
  const directory = site.directory();
  const database = join(directory, "state.db");
  const verdict = new Verdict("R-03 kill-anywhere");
  const repetitions: Repetitions = { inFlight: 0, repeated: 0, modelCalls: 0 };
  const expected = await uninterrupted(site, directory);
  let begun = 0;
  let left = parameters.kills;
  const lane = async (): Promise<void> => {
    while (begun < runs || left > 0) {
      const number = begun++;
      const due = Math.ceil(left / Math.max(1, runs - number));
      left -= due;
      const log = join(directory, `${number}.log`);
      const scene: Case = { plan: planOf(number), log, database, arrivals: [], due };
      const { messages } = await runThroughKills(site, scene);
      left += scene.due;
      verdict.add(`run ${number}`, [
        ...difference("messages", messages, expected[number % 2] as readonly string[]),
        ...audit(scene.plan, effectsIn(log), scene.arrivals, repetitions),
      ]);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const integrity = integrityOf(database);
  if (integrity !== "ok") verdict.add("database", [integrity]);
  const { inFlight, repeated, modelCalls } = repetitions;
  return verdict.outcome(
    `${parameters.kills} kills; ${inFlight} calls in flight at a kill, ${repeated} of them run again; ` +
      `${modelCalls} model calls repeated; integrity ${integrity}`,
  );
}

/** Every other run has turns of two calls. */
function planOf(number: number): Plan {
  const callsPerTurn = 1 + (number % 2);
  return { thread: `run-${number}`, text: "Go.", turns: TURNS, callsPerTurn, toolPause: 30, modelPause: 15 };
}

/** The messages of both kinds of run when nobody kills anything. */
async function uninterrupted(site: ChaosSite, directory: string): Promise<string[][]> {
  const worker = await site.worker(join(directory, "uninterrupted.db"));
  const log = join(directory, "uninterrupted.log");
  const results = await Promise.all(
    [0, 1].map((number) => worker.ask({ act: "run", plan: planOf(number), claim: CLAIM, log })),
  );
  await worker.kill();
  return results.map(({ messages }) => messages);
}

async function runThroughKills(site: ChaosSite, scene: Case): Promise<RunResult> {
  for (;;) {
    const worker = site.start(scene.database);
    const early = scene.due > 0 && site.random.chance(SHARE_OF_EARLY_KILLS);
    const moment = early
      ? sleep(site.random.below(LONGEST_START_MS))
      : scene.due > 0
        ? afterFirstAct(worker, scene.log, site.random.below(LONGEST_LIFE_MS))
        : undefined;
    const result = await workUntil(worker, scene, moment);
    if (result) return result;
  }
}

/** Undefined when the moment came first and the worker was killed. */
async function workUntil(
  worker: WorkerProcess,
  scene: Case,
  moment: Promise<void> | undefined,
): Promise<RunResult | undefined> {
  const working = work(worker, scene).catch((error: WorkerError | WorkerGone) => {
    if (moment !== undefined && error instanceof WorkerGone) return undefined;
    throw error;
  });
  const first = moment ? await Promise.race([moment.then(() => "kill" as const), working]) : working;
  const result = await first;
  await worker.kill();
  if (result !== "kill") return result;
  scene.due -= 1;
  await working;
  return undefined;
}

async function work(worker: WorkerProcess, { plan, log, arrivals }: Case): Promise<RunResult> {
  await worker.ready;
  const stored = new Set(await worker.ask({ act: "stored", thread: plan.thread }));
  arrivals.push({ stored, effects: effectsIn(log).length });
  return worker.ask({ act: "run", plan, claim: CLAIM, log });
}

/** The claim of the one that was killed must run out first, so a worker waits before it acts. */
async function afterFirstAct(worker: WorkerProcess, log: string, milliseconds: number): Promise<void> {
  let gone = false;
  void worker.ended.then(() => {
    gone = true;
  });
  while (!gone && !effectsIn(log).some(({ pid }) => pid === worker.pid)) await sleep(5);
  await sleep(milliseconds);
}
