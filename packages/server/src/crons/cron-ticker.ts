/**
 * Starts the runs of crons that are due.
 *
 * - Every process may tick. A run starts under an idempotency key made of the cron and its date; then the cron gets its
 *   next date. Two processes that see the same date get the same run, and a process that dies in between loses nothing.
 * - Dates that passed while no process was alive make one run, not many.
 * - Runs of crons count towards the run limit of the owner. A cron over the limit stays due and starts when there is room.
 * - A cron that fails is tried again a little later and does not delay the others.
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
  /** Time between two looks at the records. */
  readonly tickMs: number;
  /** Least milliseconds between two dates of a cron, also of a cron stored before this limit was set. Default 0. */
  readonly leastMs?: number;
  /** Whether the owner may start a run now; the answer true counts as one start. Default: always. */
  readonly mayBegin?: (owner: Owner) => boolean;
  readonly onError: (error: unknown) => void;
}

export interface CronTicker {
  start(): void;
  /** Starts all runs that are due now. */
  tick(now?: Date): Promise<void>;
  /** Resolves when no run is being started any more. Safe to call twice. */
  stop(): Promise<void>;
}

/** Crons read from the records at once. */
const PAGE = 100;
/** Wait before a failed cron is tried again. */
const RETRY_MS = 10_000;

export function createCronTicker(options: CronTickerOptions): CronTicker {
  const { crons, start, tickMs, leastMs = 0, mayBegin = () => true, onError } = options;
  let stopTimer = (): void => {};
  let ticking: Promise<void> | undefined;
  let stopped = false;
  /** Failed crons by name, with the time of their next attempt. */
  const retryAt = new Map<string, number>();
  /** The time of the last tick. Infinity, so that the first tick also looks whether the clock went back before it. */
  let lastTick = Number.POSITIVE_INFINITY;

  /** Returns false when the cron has to be tried again. */
  const begin = async (due: DueCron): Promise<boolean> => {
    try {
      await start(runOf(due));
      return true;
    } catch (error) {
      onError(error);
      // The thread is busy, or the assistant is gone: this date is skipped.
      return error instanceof ServiceError && error.status < 500;
    }
  };
  const tick = async (now = new Date()): Promise<void> => {
    const postponed = new Set<string>();
    const withoutRoom = new Set<Owner>();
    if (now.getTime() < lastTick) {
      retryAt.clear();
      await bringDatesBack(crons, new Date(now.getTime() + leastMs));
    }
    lastTick = now.getTime();
    for (const [name, time] of retryAt) if (time <= now.getTime()) retryAt.delete(name);
    for (let hasMore = true; hasMore; ) {
      // Postponed crons stay due and come again, so each page is longer by their number.
      const found = await crons.due(now.getTime(), PAGE + postponed.size);
      const due = found.filter((one) => !postponed.has(nameOf(one)));
      hasMore = found.length === PAGE + postponed.size && due.length > 0;
      for (const one of due) {
        if (stopped) return;
        const name = nameOf(one);
        const waitsForRetry = retryAt.has(name);
        if (waitsForRetry || withoutRoom.has(one.owner) || !mayBegin(one.owner)) {
          if (!waitsForRetry) withoutRoom.add(one.owner);
          postponed.add(name);
          continue;
        }
        if (!(await begin(one))) {
          retryAt.set(name, now.getTime() + RETRY_MS);
          postponed.add(name);
          continue;
        }
        await crons.advance([{ due: one, next: nextDate(one.cron, earliestNext(one, now, leastMs)) }]);
      }
    }
  };
  const schedule = (): void => {
    const next = (): void => {
      ticking = tick()
        .catch(onError)
        .finally(() => {
          ticking = undefined;
          if (!stopped) schedule();
        });
    };
    stopTimer = after(tickMs, next, { ref: false });
  };
  return {
    tick,
    start: () => schedule(),
    async stop() {
      stopped = true;
      stopTimer();
      await ticking;
    },
  };
}

/**
 * Repairs dates after the clock went back: a cron whose date is later than its first date after `now` gets that first
 * date. The idempotency key finds the run of a date that already had one.
 */
async function bringDatesBack(crons: CronTickerOptions["crons"], now: Date): Promise<void> {
  let page: readonly ListedCron[] = [];
  do {
    page = await crons.ahead(now.getTime(), page.at(-1)?.position ?? 0, PAGE);
    const steps = page.map((due) => ({ due, next: nextDate(due.cron, now) }));
    const tooLate = steps.filter(({ due, next }) => next !== null && next < (due.cron.next_run_date ?? ""));
    if (tooLate.length > 0) await crons.advance(tooLate);
  } while (page.length === PAGE);
}

/** Ids of crons are unique for one owner only. */
function nameOf({ owner, cron }: DueCron): string {
  return JSON.stringify([owner, cron.cron_id]);
}

/** The next date of the cron is later than this moment. */
function earliestNext({ cron }: DueCron, now: Date, leastMs: number): Date {
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
