/** The records where the database lives: in the thread of an SQLite file, or before Postgres. Data in, data out. */
import { prepareTables, type Sql } from "@deepwright/checkpoint/sql";
import { type AssistantRows, assistantRows } from "./tables/assistants.ts";
import { type BackgroundRows, backgroundRows } from "./tables/background.ts";
import { type CronRows, cronRows } from "./tables/crons.ts";
import { databaseOf } from "./tables/database.ts";
import { type EventRows, eventRows } from "./tables/events.ts";
import { type HookRows, hookRows } from "./tables/hooks.ts";
import { type MailRows, mailRows } from "./tables/mail.ts";
import { type RunRows, runRows } from "./tables/runs.ts";
import { SERVER_MIGRATIONS } from "./tables/schema.ts";
import { type TaskRows, taskRows } from "./tables/tasks.ts";
import { type ThreadRows, threadRows } from "./tables/threads.ts";

export interface Rows {
  readonly assistants: AssistantRows;
  readonly threads: ThreadRows;
  readonly runs: RunRows;
  readonly events: EventRows;
  readonly crons: CronRows;
  readonly mail: MailRows;
  readonly tasks: TaskRows;
  readonly hooks: HookRows;
  readonly background: BackgroundRows;
}

export interface RecordsService {
  call(resource: string, method: string, args: readonly unknown[]): Promise<unknown>;
}

/** Makes or updates the tables. */
export default async function makeService(sql: Sql): Promise<RecordsService> {
  await prepareTables(sql, "server records", SERVER_MIGRATIONS);
  const database = databaseOf(sql);
  const rows: Rows = {
    assistants: assistantRows(database),
    threads: threadRows(database),
    runs: runRows(database),
    events: eventRows(database),
    crons: cronRows(database),
    mail: mailRows(database),
    tasks: taskRows(database),
    hooks: hookRows(database),
    background: backgroundRows(database),
  };
  const resources = rows as unknown as Record<
    string,
    Record<string, (...args: readonly unknown[]) => Promise<unknown>>
  >;
  return {
    call: async (resource, method, args) => resources[resource]?.[method]?.(...args),
  };
}
