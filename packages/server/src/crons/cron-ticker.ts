/**
 * Begins the runs of crons that are due.
 *
 * Every process may tick. A run is begun under a key made of the cron and its date, and then the date is moved on: of
 * two processes that see the same date one gets the other's run, and one that dies in between has lost nothing.
 * Dates that passed while no process lived make one run, not many.
 */
import type { CreateRun } from "@deepwright/protocol";
import type { CronRecords, DueCron, RunRecord } from "../records/records.ts";
import type { StartRun } from "../runs/run-service.ts";
import { ServiceError } from "../runs/service-error.ts";
import { nextDate } from "./schedule.ts";

export interface CronTickerOptions {
  readonly crons: Pick<CronRecords, "due" | "advance">;
  readonly start: (run: StartRun) => Promise<RunRecord>;
  /** How often it is asked what is due. */
  readonly tickMs: number;
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

export function createCronTicker({ crons, start, tickMs, onError }: CronTickerOptions): CronTicker {
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> | undefined;
  let stopped = false;

  const begin = async (due: DueCron): Promise<void> => {
    try {
      await start(runOf(due));
    } catch (error) {
      // Its thread is busy, or its assistant is gone: that date is skipped. Anything else is tried again.
      if (!(error instanceof ServiceError) || error.status >= 500) throw error;
      onError(error);
    }
  };
  const tick = async (now = new Date()): Promise<void> => {
    for (const due of await crons.due(now.getTime(), AT_ONCE)) {
      if (stopped) return;
      await begin(due);
      await crons.advance([{ due, next: nextDate(due.cron, now) }]);
    }
  };
  const again = (): void => {
    timer = setTimeout(() => {
      ticking = tick()
        .catch(onError)
        .finally(() => {
          ticking = undefined;
          if (!stopped) again();
        });
    }, tickMs);
    timer.unref();
  };
  return {
    tick,
    start: () => again(),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await ticking;
    },
  };
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
