/** the database goes away under many runs, and comes back. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { privatePostgres, type TestPostgres } from "../../test-support/postgres.ts";
import { plannedOutline } from "../agent.ts";
import { audit, type Repetitions } from "../audit.ts";
import { effectsIn, isAct } from "../effects.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { Plan } from "../plan.ts";
import type { ChaosSite } from "../site.ts";
import { until } from "../until.ts";
import type { WorkerProcess } from "../worker-process.ts";

export interface PostgresRestartParameters {
  readonly runs: number;
  readonly processes: number;
  /** Blows to the server, one after another while the runs go on. */
  readonly blows: readonly Blow[];
  /** Longest time the server is away, in seconds. */
  readonly longestOutage: number;
}

/** `fast` and `kill` end the server; `terminate` ends all connections. */
export type Blow = "fast" | "kill" | "terminate";

const CLAIM = { mode: "queue", ttl: 30 } as const;
/** The part of its turns in which a run is struck. */
const STRUCK_PART = 0.6;

export async function postgresRestart(
  site: ChaosSite,
  parameters: PostgresRestartParameters,
): Promise<Outcome> {
  const { runs, processes, blows } = parameters;
  const server = await privatePostgres();
  site.onClose(() => server.stop());
  const directory = site.directory();
  const verdict = new Verdict("R-06 postgres-restart");
  const workers = await Promise.all(Array.from({ length: processes }, () => site.worker(server.url)));
  const began = performance.now();
  const repetitions: Repetitions = { inFlight: 0, repeated: 0, modelCalls: 0 };
  let unfinished = runs;
  const carriedOut = Promise.all(
    Array.from({ length: runs }, async (_, number) => {
      const worker = workers[number % processes] as WorkerProcess;
      const log = logOf(directory, number);
      verdict.add(`run ${number}`, await carryOut(worker, planOf(number, parameters), log, repetitions));
      unfinished -= 1;
    }),
  );
  const under: number[] = [];
  for (const [i, blow] of blows.entries()) {
    const turn = (planOf(0, parameters).turns * STRUCK_PART * (i + site.random.below(1))) / blows.length;
    await until(() => unfinished === 0 || turnsIn(logOf(directory, 0)) > turn);
    under.push(unfinished);
    await strike(server, blow, site.random.below(parameters.longestOutage * 1_000));
  }
  await carriedOut;
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  if ((under.at(-1) ?? 0) === 0) verdict.add("blows", ["the last came when all runs were done"]);
  await Promise.all(workers.map((worker) => worker.kill()));
  const told = blows.map((blow, i) => `${blow} under ${under[i]}`).join(", ");
  return verdict.outcome(
    `${runs} runs in ${processes} processes, ${seconds} s; ${told}; acts doubled: ${repetitions.repeated + repetitions.modelCalls}`,
  );
}

function logOf(directory: string, number: number): string {
  return join(directory, `${number}.log`);
}

function turnsIn(log: string): number {
  return effectsIn(log).filter(({ kind }) => kind === "model").length;
}

/** Long enough for all blows to fall into it. */
function planOf(number: number, { blows }: PostgresRestartParameters): Plan {
  const turns = 10 + 5 * blows.length;
  return { thread: `run-${number}`, text: "Go.", turns, toolPause: 150, modelPause: 150 };
}

/** No process ends here, so nothing may happen twice. */
async function carryOut(
  worker: WorkerProcess,
  plan: Plan,
  log: string,
  total: Repetitions,
): Promise<string[]> {
  try {
    const { messages } = await worker.ask({ act: "run", plan, claim: CLAIM, log });
    const arrivals = [{ stored: new Set<string>(), effects: 0 }];
    const acts = effectsIn(log).filter(isAct).length;
    const planned = 2 * plan.turns + 1;
    return [
      ...difference("messages", messages, plannedOutline(plan)),
      ...audit(plan, effectsIn(log), arrivals, total),
      ...(acts === planned ? [] : [`${acts} acts instead of ${planned}`]),
    ];
  } catch (error) {
    return [`failed: ${(error as Error).message}`];
  }
}

/** Postgres comes back after `outage` milliseconds. */
export async function strike(server: TestPostgres, blow: Blow, outage: number): Promise<void> {
  if (blow === "terminate") return terminateAll(server.url);
  await server.halt(blow);
  await sleep(outage);
  await server.start();
}

async function terminateAll(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    );
  } finally {
    await client.end();
  }
}
