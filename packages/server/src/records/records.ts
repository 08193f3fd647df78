/**
 * Records of the server beside the threads' own state: assistants, threads, runs and their events, crons.
 *
 * Every method that a client can cause takes the owner and sees nothing of others: a foreign id is an id that is not
 * there. Methods without an owner are for the server's own work, after it has looked an id up with its owner. One
 * implementation over SQL serves SQLite (one machine) and Postgres (many): see `open-records.ts`.
 *
 * Dates that clients see come from the clock of the caller and order nothing: runs of a thread follow each other by
 * `sequence`. `notBefore` is measured by the clock of the database, which is one for all workers, and claims by a
 * monotonic clock.
 */
import type { AssistantRecords } from "./contract/assistant-records.ts";
import type { BackgroundRecords } from "./contract/background-records.ts";
import type { CronRecords } from "./contract/cron-records.ts";
import type { HookRecords } from "./contract/hook-records.ts";
import type { MailRecords } from "./contract/mail-records.ts";
import type { EventRecords, RunRecords } from "./contract/run-records.ts";
import type { TaskRecords } from "./contract/task-records.ts";
import type { ThreadRecords } from "./contract/thread-records.ts";
import type { TicketRecords } from "./contract/ticket-records.ts";

export type * from "./contract/assistant-records.ts";
export type * from "./contract/background-records.ts";
export type * from "./contract/cron-records.ts";
export type * from "./contract/hook-records.ts";
export { type MailKind, type MailRecords, mailKey, type WaitingMail } from "./contract/mail-records.ts";
export * from "./contract/owner.ts";
export type * from "./contract/run-records.ts";
export type * from "./contract/task-records.ts";
export type * from "./contract/thread-records.ts";
export type * from "./contract/ticket-records.ts";

export interface ServerRecords {
  readonly assistants: AssistantRecords;
  readonly threads: ThreadRecords;
  readonly runs: RunRecords;
  readonly events: EventRecords;
  readonly crons: CronRecords;
  readonly mail: MailRecords;
  readonly tasks: TaskRecords;
  readonly hooks: HookRecords;
  readonly background: BackgroundRecords;
  readonly tickets: TicketRecords;
  close(): Promise<void>;
}
