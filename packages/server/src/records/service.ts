/** The records where the database lives: in the thread of an SQLite file, or before Postgres. Data in, data out. */
import { prepareTables, type Sql } from "@deepwright/checkpoint/sql";
import { assistantRows } from "./tables/assistants.ts";
import { backgroundRows } from "./tables/background.ts";
import { cronRows } from "./tables/crons.ts";
import { type Database, databaseOf } from "./tables/database.ts";
import { eventRows } from "./tables/events.ts";
import { hookRows } from "./tables/hooks.ts";
import { mailRows } from "./tables/mail.ts";
import { runRows } from "./tables/runs.ts";
import { SERVER_MIGRATIONS } from "./tables/schema.ts";
import { taskRows } from "./tables/tasks.ts";
import { threadRows } from "./tables/threads.ts";
import { ticketRows } from "./tables/tickets.ts";

/** All tables. No method is called here, so `database` may be a stand-in where only the names matter. */
export function createRows(database: Database) {
  return {
    assistants: assistantRows(database),
    threads: threadRows(database),
    runs: runRows(database),
    events: eventRows(database),
    crons: cronRows(database),
    mail: mailRows(database),
    tasks: taskRows(database),
    hooks: hookRows(database),
    background: backgroundRows(database),
    tickets: ticketRows(database),
  };
}

export type Rows = ReturnType<typeof createRows>;

export interface RecordsService {
  call(resource: string, method: string, args: readonly unknown[]): Promise<unknown>;
}

/** Makes or updates the tables. */
export default async function makeService(sql: Sql): Promise<RecordsService> {
  await prepareTables(sql, "server records", SERVER_MIGRATIONS);
  const rows: Record<string, Record<string, Method>> = createRows(databaseOf(sql)) as never;
  return {
    call: async (resource, method, args) => rows[resource]?.[method]?.(...args),
  };
}

type Method = (...args: readonly unknown[]) => Promise<unknown>;
