/** Runs by the clock. */
import type { Cron, SearchCrons } from "@deepwright/protocol";
import type { ByteLimit } from "../tables/conditions.ts";
import type { Owner } from "./owner.ts";

export interface DueCron {
  readonly owner: Owner;
  readonly cron: Cron;
}

export interface ListedCron extends DueCron {
  readonly position: number;
}

export interface CronRecords {
  /** Adds the cron, or replaces the owner's cron with the same id. */
  put(owner: Owner, cron: Cron): Promise<Cron>;
  get(owner: Owner, cronId: string): Promise<Cron | undefined>;
  search(owner: Owner, query: SearchCrons, bytes?: ByteLimit): Promise<Cron[]>;
  count(owner: Owner, query: Pick<SearchCrons, "assistant_id" | "thread_id" | "metadata">): Promise<number>;
  delete(owner: Owner, cronId: string): Promise<boolean>;
  /**
   * Crons that are due, each given to one caller only: their next date is set in the same transaction (null: never
   * again). They are returned as they were, so `next_run_date` is the date they are due for.
   *
   * A caller that dies before it started the run has lost that date. Callers that must not lose one read `due`, start
   * the run under an idempotency key made of cron and date, and then call `advance`.
   */
  takeDue(nowMs: number, next: (cron: Cron) => string | null): Promise<readonly DueCron[]>;
  /** The oldest dates first. */
  due(nowMs: number, limit?: number): Promise<readonly DueCron[]>;
  /** Records with a date after `nowMs`, in the order they were made, from behind the position `after`. */
  ahead(nowMs: number, after: number, limit: number): Promise<readonly ListedCron[]>;
  /** Sets the next date of crons that still have the date they were read with; returns these crons. */
  advance(
    steps: readonly { readonly due: DueCron; readonly next: string | null }[],
  ): Promise<readonly DueCron[]>;
}
