/** a process is stopped, another takes its thread over, and the first wakes up again. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { plannedOutline } from "../agent.ts";
import { type Effect, effectsIn, isAct } from "../effects.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { Plan, RunResult } from "../plan.ts";
import type { ChaosSite } from "../site.ts";
import { stopWriter } from "../transactions.ts";
import { until } from "../until.ts";
import { codeOf, type WorkerProcess } from "../worker-process.ts";

export interface StoppedHolderParameters {
  readonly times: number;
  /** Seconds a claim lives. */
  readonly ttl: number;
  /** Whether it is stopped while it has a transaction open. */
  readonly where: "inside" | "outside";
  /** The URL of a Postgres; absent: a new SQLite file, which nobody else can use `inside` a transaction. */
  readonly postgres?: string;
}

interface Scene {
  readonly plan: Plan;
  readonly place: string;
  readonly parameters: StoppedHolderParameters;
  readonly log: string;
  /** The first is stopped, the second takes over. */
  readonly workers: readonly [WorkerProcess, WorkerProcess];
}

const TURNS = 20;
/** The holder is stopped in one of these. The others keep it busy when the machine is slow to stop it. */
const TURNS_TO_STOP_IN = 5;
/** Long enough for what a woken process would do wrong. */
const WATCHED_MS = 700;
const LONGEST_WAIT_MS = 60;

export async function stoppedHolder(site: ChaosSite, parameters: StoppedHolderParameters): Promise<Outcome> {
  const { times, ttl, where, postgres } = parameters;
  const directory = site.directory();
  const place = postgres ?? join(directory, "state.db");
  const verdict = new Verdict(`R-12 stopped-holder ${where} ${postgres ? "postgres" : "sqlite"}`);
  const workers = [await site.worker(place), await site.worker(place)] as const;
  let late = 0;
  let past = 0;
  for (let number = 0; number < times; number += 1) {
    const plan = { thread: `${where}-${number}`, text: "Go.", turns: TURNS, toolPause: 40, modelPause: 40 };
    const scene = { plan, place, parameters, workers, log: join(directory, `${number}.log`) };
    const { problems, lateActs, pastTheGate } = await takeOver(site, scene);
    verdict.add(plan.thread, problems);
    late += lateActs;
    past += pastTheGate;
  }
  await Promise.all(workers.map((worker) => worker.kill()));
  return verdict.outcome(
    `${times} take-overs with a ttl of ${ttl} s; acts of those that woke up: ${late}, and ${past} they were about to do`,
  );
}

/**
 * A process may be stopped after it asked whether it holds the thread and before it acts. Nobody but the
 * other side of the act could refuse that one, as it could after a kill.
 */
async function takeOver(site: ChaosSite, scene: Scene) {
  const { plan, log, workers, parameters } = scene;
  const [holder, other] = workers;
  const claim = { mode: "queue", ttl: parameters.ttl } as const;
  const request = { act: "run", plan, claim, log } as const;
  const held = holder.ask(request);
  await someTurn(site, log);
  await stopWriter(holder, scene.place, parameters.where, site.random);
  const wasBetween = !isAct(actsAndEnds(holder, log).at(-1) as Effect);
  let finished: RunResult;
  let begun: number;
  try {
    finished = await other.ask(request);
    begun = actsOf(holder, log);
  } finally {
    holder.continue();
  }
  const code = await codeOf(held);
  await sleep(WATCHED_MS);
  const after = await other.ask({ act: "messages", thread: plan.thread });
  const acts = actsOf(holder, log) - begun;
  const pastTheGate = wasBetween ? Math.min(acts, 1) : 0;
  const lateActs = acts - pastTheGate;
  const problems = [
    ...difference("messages of the other", finished.messages, plannedOutline(plan)),
    ...difference("messages afterwards", after, plannedOutline(plan)),
    ...(lateActs === 0 ? [] : [`${lateActs} acts after it woke up`]),
    ...(code === "CLAIM_LOST" ? [] : [`the one that woke up ended with ${code}`]),
  ];
  return { problems, lateActs, pastTheGate };
}

/** A random moment of a random turn. */
async function someTurn(site: ChaosSite, log: string): Promise<void> {
  const turn = Math.floor(site.random.below(TURNS_TO_STOP_IN));
  const kind = site.random.pick(["begin", "model"]);
  await until(() =>
    effectsIn(log).some((effect) => effect.kind === kind && Number.parseInt(effect.place, 10) === turn),
  );
  await sleep(site.random.below(LONGEST_WAIT_MS));
}

function actsAndEnds(worker: WorkerProcess, log: string): Effect[] {
  return effectsIn(log).filter(({ pid }) => pid === worker.pid);
}

function actsOf(worker: WorkerProcess, log: string): number {
  return actsAndEnds(worker, log).filter(isAct).length;
}
