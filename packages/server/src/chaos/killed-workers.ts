/**
 * R-06: workers are killed and their Postgres is restarted under many runs, begun and read over HTTP. R-12: they stand
 * still for longer than their claims live, and come back while others have their runs.
 */
import { randomUUID } from "node:crypto";
import type { StreamedEvent } from "@deepwright/protocol";
import pg from "pg";
import { type Effect, effectsIn } from "../../../checkpoint/src/chaos/effects.ts";
import { type Outcome, Verdict } from "../../../checkpoint/src/chaos/outcome.ts";
import { type Blow, strike } from "../../../checkpoint/src/chaos/scenarios/postgres-restart.ts";
import type { ChaosSite } from "../../../checkpoint/src/chaos/site.ts";
import { until } from "../../../checkpoint/src/chaos/until.ts";
import { privatePostgres } from "../../../checkpoint/src/test-support/postgres.ts";
import { logOf, planOf } from "./agent.ts";
import {
  beginnings,
  effectProblems,
  finishedAgain,
  outrun,
  repetitions,
  stateProblems,
  streamProblems,
} from "./audit.ts";
import { type ChaosClient, chaosClient } from "./client.ts";
import { type Probe, percentile, probe } from "./probe.ts";
import { ServerProcess } from "./server-process.ts";
import type { ServerSettings } from "./server-program.ts";
import { type SupervisorOptions, superviseWorkers } from "./supervisor.ts";

export interface KilledWorkersParameters extends SupervisorOptions {
  readonly runs: number;
  readonly turns: number;
  /** Faults of Postgres, one after another, while runs continue. */
  readonly blows: readonly Blow[];
  /** Milliseconds Postgres is away. */
  readonly outageMs: number;
}

/** A run as its reader saw it. */
interface Played {
  readonly thread: string;
  readonly events: readonly StreamedEvent[];
  readonly effects: readonly Effect[];
}

/** Kills that may be missing of one a second: the clock starts a moment before the first. */
const MOST_MISSED_KILLS = 2;
const LONGEST_SECONDS = 3_600;

export async function killedWorkers(site: ChaosSite, parameters: KilledWorkersParameters): Promise<Outcome> {
  const postgres = await privatePostgres();
  site.onClose(() => postgres.stop());
  const settings = settingsOf(site.directory(), postgres.url, parameters);
  const isPaused = parameters.pauseMs !== undefined;
  const verdict = new Verdict(isPaused ? "R-12 server-paused" : "R-06 server-postgres");
  const api = new ServerProcess(site.program.file, { ...settings, role: "api" }).begin();
  site.onClose(() => api.kill());
  const url = await api.ready;
  const supervisor = await superviseWorkers(site, settings, parameters);
  const client = chaosClient(url, settings.token, site.random);
  const health = probe(url, settings.token);
  const began = performance.now();
  const threads = Array.from({ length: parameters.runs }, (_, number) => `run-${number}`);
  const playing = threads.map((thread) => play(client, settings, thread));
  const all = Promise.all(playing);
  const open = new Set(playing);
  for (const one of playing) void one.finally(() => open.delete(one)).catch(() => {});
  const under: number[] = [];
  for (const [index, blow] of parameters.blows.entries()) {
    const share = (index + 1) / (parameters.blows.length + 1);
    await Promise.race([all, until(() => client.updates >= share * updatesOf(parameters), LONGEST_SECONDS)]);
    under.push(open.size);
    await strike(postgres, blow, parameters.outageMs);
  }
  const played = await all;
  const seconds = (performance.now() - began) / 1_000;
  await supervisor.stopKilling();
  await health.stop();
  for (const one of played) verdict.add(one.thread, await problemsOf(client, settings, one));
  verdict.add("api", [...new Set(health.problems), ...(api.ending ? [`the api ended: ${api.ending}`] : [])]);
  verdict.add(
    "workers",
    supervisor.deaths.map((death) => `one that nobody killed ended: ${death}`),
  );
  const missed = Math.floor(seconds) - supervisor.kills;
  const isSteady = parameters.kills !== undefined || isPaused || missed <= MOST_MISSED_KILLS;
  verdict.add("kills", isSteady ? [] : [`only ${supervisor.kills} in ${seconds.toFixed(0)} s`]);
  verdict.add("database", await leftBehind(postgres.url));
  verdict.add("blows", under.includes(0) ? ["one fell when all runs were done"] : []);
  const blows = parameters.blows.map((blow, index) => `${blow} under ${under[index]}`).join(", ");
  return verdict.outcome(
    `${runFigures(parameters, played)}, ${seconds.toFixed(0)} s; ` +
      `${isPaused ? `${supervisor.pauses} pauses` : `${supervisor.kills} kills`}, Postgres ${blows || "as it was"}; ` +
      `${client.cuts} streams cut and resumed; ${healthFigures(health)}`,
  );
}

function settingsOf(directory: string, database: string, { turns }: KilledWorkersParameters): ServerSettings {
  return {
    role: "worker",
    database,
    directory,
    token: randomUUID(),
    plan: { turns, callsPerTurn: 2, toolPause: 200, modelPause: 100 },
    // Sooner than Postgres comes back, so that it shows how requests fail.
    answerMs: 2_000,
    // A worker lives for three seconds: few runs at a time, or none of them comes to the end of a step.
    runs: { claimTtl: 3, maxAttempts: 100, concurrency: 10, scanInterval: 1 },
  };
}

/** One of each model and one of each call. */
function updatesOf({ runs, turns }: KilledWorkersParameters): number {
  return runs * (3 * turns + 1);
}

async function play(client: ChaosClient, { directory }: ServerSettings, thread: string): Promise<Played> {
  const events = await client.play(thread);
  return { thread, events, effects: effectsIn(logOf(directory, thread)) };
}

async function problemsOf(
  { read, client }: ChaosClient,
  settings: ServerSettings,
  { thread, events, effects }: Played,
): Promise<string[]> {
  const runs = await client.runs.list(thread);
  const [run] = runs;
  if (run === undefined || runs.length !== 1) return [`there are ${runs.length} runs instead of one`];
  const { status, values } = await client.threads.get(thread);
  const { messages } = (values ?? {}) as { messages?: unknown[] };
  const plan = planOf(settings.plan, thread);
  return [
    ...(run.status === "success" && status === "idle"
      ? []
      : [`the run is ${run.status}, its thread ${status}`]),
    ...streamProblems(events, await read(thread, run.run_id)),
    ...stateProblems(plan, messages ?? []),
    ...effectProblems(plan, effects, beginnings(events)),
  ];
}

function healthFigures({ health, answers }: Probe): string {
  const unavailable = answers.get("503 UNAVAILABLE") ?? 0;
  return `/ok p99 ${percentile(health, 0.99).toFixed(0)} ms of ${health.length}; ${unavailable} requests answered 503`;
}

function runFigures({ runs, workers, turns }: KilledWorkersParameters, played: readonly Played[]): string {
  const starts = played.reduce((sum, { events }) => sum + beginnings(events), 0);
  const again = played.reduce((sum, { effects }) => sum + repetitions(effects), 0);
  const finished = played.reduce((sum, { effects }) => sum + finishedAgain(effects).length, 0);
  const late = played.reduce((sum, { effects }) => sum + outrun(effects), 0);
  return (
    `${runs} runs of ${turns} turns on ${workers} workers begun ${starts} times, ` +
    `${again} calls that were cut off run again, ${finished} that were finished, ${late} outrun by another worker`
  );
}

/** Nothing is open, claimed or waiting once all runs have ended. */
async function leftBehind(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(LEFT_BEHIND);
    return rows.flatMap(({ what, count }) => (Number(count) === 0 ? [] : [`${count} ${what} left`]));
  } finally {
    await client.end();
  }
}

const LEFT_BEHIND = `
  SELECT 'open runs' AS what, count(*) FROM dw_srv_runs WHERE open = 1
  UNION ALL SELECT 'claims', count(*) FROM dw_threads WHERE claim_holder IS NOT NULL
  UNION ALL SELECT 'waiting jobs', count(*) FROM deepwright_queue.jobs WHERE locked_at IS NULL`;
