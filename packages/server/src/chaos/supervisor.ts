/** Keeps so many workers at work, and strikes one of them every second. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ChaosSite } from "../../../checkpoint/src/chaos/site.ts";
import { ServerProcess } from "./server-process.ts";
import type { ServerSettings } from "./server-program.ts";

export interface Supervisor {
  readonly kills: number;
  readonly pauses: number;
  /** How workers ended that nobody had killed. */
  readonly deaths: readonly string[];
  /** Kills no more; those that live go on. */
  stopKilling(): Promise<void>;
}

export interface SupervisorOptions {
  readonly workers: number;
  /** Absent: until it is told to stop. */
  readonly kills?: number;
  /** Milliseconds for which a worker stands still, instead of being killed. */
  readonly pauseMs?: number;
}

const KILL_EVERY_MS = 1_000;
/** Processes that have loaded their code and take the place of the next ones that are killed: to load it takes a second. */
const SPARES = 3;

export async function superviseWorkers(
  site: ChaosSite,
  settings: ServerSettings,
  { workers: count, kills: mostKills = Number.POSITIVE_INFINITY, pauseMs }: SupervisorOptions,
): Promise<Supervisor> {
  const deaths: string[] = [];
  let kills = 0;
  let pauses = 0;
  const paused = new Set<ServerProcess>();
  let going = true;
  const load = (): ServerProcess => {
    const worker = new ServerProcess(site.program.file, settings);
    site.onClose(() => worker.kill());
    return worker;
  };
  const spares = Array.from({ length: SPARES }, load);
  const start = (): ServerProcess => {
    spares.push(load());
    return (spares.shift() as ServerProcess).begin();
  };
  const workers = Array.from({ length: count }, start);
  await Promise.all(workers.map(({ ready }) => ready));
  const replaceDead = (): void => {
    for (const [place, { ending }] of workers.entries()) {
      if (ending === undefined) continue;
      deaths.push(ending);
      workers[place] = start();
    }
  };
  const kill = async (): Promise<void> => {
    const [place, victim] = site.random.pick([...workers.entries()]);
    kills += 1;
    await victim.kill();
    workers[place] = start();
  };
  /** One always goes on. */
  const pause = (ms: number): void => {
    const awake = workers.filter((worker) => !paused.has(worker));
    if (awake.length < 2) return;
    const victim = site.random.pick(awake);
    pauses += 1;
    paused.add(victim);
    void victim.pause(ms).then(() => paused.delete(victim));
  };
  const killing = (async () => {
    for (let next = performance.now() + KILL_EVERY_MS; going; next += KILL_EVERY_MS) {
      await sleep(Math.max(0, next - performance.now()));
      replaceDead();
      if (!going) continue;
      if (pauseMs !== undefined) pause(pauseMs);
      else if (kills < mostKills) await kill();
    }
  })();
  return {
    get kills() {
      return kills;
    },
    get pauses() {
      return pauses;
    },
    deaths,
    stopKilling: async () => {
      going = false;
      await killing;
    },
  };
}
