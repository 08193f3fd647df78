/**
 * Begins the runs of crons that are due.
 *
 * Every process may tick. A run is begun under a key made of the cron and its date, and then the date is moved on: of
 * two processes that see the same date one gets the other's run, and one that dies in between has lost nothing.
 * Dates that passed while no process lived make one run, not many. Runs by the clock count as those the owner asks for:
 * one that meets the limit stays due, and begins when there is room. One that fails is in nobody's way: the others begin,
 * and it is tried again a little later.
 */
import type { CreateRun } from "@deepwright/protocol";
import { after } from "deepwright/duration";
import type { CronRecords, DueCron, ListedCron, Owner, RunRecord } from "../records/records.ts";
import { ServiceError } from "../runs/service-error.ts";
import type { StartRun } from "../runs/start-request.ts";
import { nextDate } from "./schedule.ts";

export interface CronTickerOptions {
  readonly crons: Pick<CronRecords, "due" | "ahead" | "advance">;
  readonly start: (run: StartRun) => Promise<RunRecord>;
  /** How often it is asked what is due. */
  readonly tickMs: number;
  /** Milliseconds between two dates of a cron, at least: also of one that was kept under another rule. Default 0. */
  readonly leastMs?: number;
  /** Whether the owner may begin a run now; true counts it. Default: always. */
  readonly mayBegin?: (owner: Owner) => boolean;
  readonly onError: (error: unknown) => void;
}

export interface CronTicker {
  start(): void;
  /** Begins what is due now. */
  tick(now?: Date): Promise<void>;
  /** Resolves when nothing is being begun. Safe twice. */
  stop(): Promise<void>;
}

const AT_ONCE = 100;
/** Before a cron that failed is tried again. */
const AGAIN_MS = 10_000;

export function createCronTicker(options: CronTickerOptions): CronTicker {
  const { crons, start, tickMs, leastMs = 0, mayBegin = () => true, onError } = options;
  let stopTimer = (): void => {};
  let ticking: Promise<void> | undefined;
  let stopped = false;
  /** Until when crons that failed are left alone, in milliseconds. */
  const putOff = new Map<string, number>();
  /** The time of the last tick. Before the first one the clock may have gone back as well. */
  let last = Number.POSITIVE_INFINITY;

  /** False: it is to be tried again. */
  const begin = async (due: DueCron): Promise<boolean> => {
    try {
      await start(runOf(due));
      return true;
    } catch (error) {
      onError(error);
      // Its thread is busy, or its assistant is gone: that date is skipped.
      return error instanceof ServiceError && error.status < 500;
    }
  };
  const tick = async (now = new Date()): Promise<void> => {
    const late = new Set<string>();
    const full = new Set<Owner>();
    if (now.getTime() < last) {
      putOff.clear();
      await bringDatesBack(crons, new Date(now.getTime() + leastMs));
    }
    last = now.getTime();
    for (const [name, until] of putOff) if (until <= now.getTime()) putOff.delete(name);
    for (let more = true; more; ) {
      const found = await crons.due(now.getTime(), AT_ONCE + late.size);
      const due = found.filter((one) => !late.has(nameOf(one)));
      // Those of one owner who has no room are not in the way of others.
      more = found.length === AT_ONCE + late.size && due.length > 0;
      for (const one of due) {
        if (stopped) return;
        const name = nameOf(one);
        const isPutOff = putOff.has(name);
        if (isPutOff || full.has(one.owner) || !mayBegin(one.owner)) {
          if (!isPutOff) full.add(one.owner);
          late.add(name);
          continue;
        }
        if (!(await begin(one))) {
          putOff.set(name, now.getTime() + AGAIN_MS);
          late.add(name);
          continue;
        }
        await crons.advance([{ due: one, next: nextDate(one.cron, behind(one, now, leastMs)) }]);
      }
    }
  };
  const again = (): void => {
    const next = (): void => {
      ticking = tick()
        .catch(onError)
        .finally(() => {
          ticking = undefined;
          if (!stopped) again();
        });
    };
    stopTimer = after(tickMs, next, { ref: false });
  };
  return {
    tick,
    start: () => again(),
    async stop() {
      stopped = true;
      stopTimer();
      await ticking;
    },
  };
}

/**
 * After the clock went back: crons with a date later than the first one after `now` get that one. Dates that had their
 * run find it by its key.
 */
async function bringDatesBack(crons: CronTickerOptions["crons"], now: Date): Promise<void> {
  let page: readonly ListedCron[] = [];
  do {
    page = await crons.ahead(now.getTime(), page.at(-1)?.position ?? 0, AT_ONCE);
    const steps = page.map((due) => ({ due, next: nextDate(due.cron, now) }));
    const late = steps.filter(({ due, next }) => next !== null && next < (due.cron.next_run_date ?? ""));
    if (late.length > 0) await crons.advance(late);
  } while (page.length === AT_ONCE);
}

/** An id of a cron is one of its owner's. */
function nameOf({ owner, cron }: DueCron): string {
  return JSON.stringify([owner, cron.cron_id]);
}

/** From when on the next date is looked for. */
function behind({ cron }: DueCron, now: Date, leastMs: number): Date {
  const least = Date.parse(cron.next_run_date ?? "") + leastMs - 1;
  return new Date(Math.max(now.getTime(), least || 0));
}

function runOf({ owner, cron }: DueCron): StartRun {
  const { cron_id, assistant_id, thread_id, payload, metadata, on_run_completed, next_run_date } = cron;
  return {
    owner,
    ...(thread_id !== null && { threadId: thread_id }),
    request: {
      ...(payload as Partial<CreateRun>),
      assistant_id,
      metadata: { ...metadata, ...(payload.metadata as object | undefined), cron_id },
      on_completion: on_run_completed,
    },
    idempotencyKey: `cron:${cron_id}:${next_run_date}`,
  };
}
