import { openPostgresSql, openSqliteService } from "@deepwright/checkpoint/sql";
import { checkDurations } from "deepwright/duration";
import { PostgresNews } from "./postgres-news.ts";
import type { ServerRecords } from "./records.ts";
import makeService, { createRows, type RecordsService, type Rows } from "./service.ts";
import { sqlRecords } from "./sql-records.ts";
import type { Database } from "./tables/database.ts";
import { Watchers } from "./watchers.ts";

/** A file (`:memory:` for a temporary one), or the URL of a database. Threads may use the same database. */
export type RecordsLocation = { readonly sqlite: string } | { readonly postgres: string };

export interface RecordsOptions {
  /** Seconds between looks for news of other processes that did not arrive by themselves. Default 1; 5 for Postgres. */
  readonly lookEvery?: number;
  /** Seconds a statement of Postgres may stay unanswered before its connection is given up. Default 25. */
  readonly answerTimeout?: number;
  /** Measures a call of one table. */
  readonly timed?: TimedCall | undefined;
}

export type TimedCall = <Result>(table: string, work: () => Promise<Result>) => Promise<Result>;

/** Makes or updates the tables. The caller closes the records. */
export async function openRecords(
  place: RecordsLocation,
  options: RecordsOptions = {},
): Promise<ServerRecords> {
  checkDurations({ unit: "seconds" }, { lookEvery: options.lookEvery });
  return "sqlite" in place
    ? openSqliteRecords(place.sqlite, options)
    : openPostgresRecords(place.postgres, options);
}

async function openSqliteRecords(
  path: string,
  { lookEvery = 1, timed }: RecordsOptions,
): Promise<ServerRecords> {
  const service = await openSqliteService(path, serviceModule());
  const call: RecordsService["call"] = (...request) => service.call("call", request);
  try {
    await call("", "", []);
  } catch (error) {
    await service.close();
    throw error;
  }
  const rows = rowsOver(call, timed);
  const watchers = new Watchers((ids) => rows.events.marks(ids), lookEvery * 1000);
  return sqlRecords({
    rows,
    watch: (runId, changed) => watchers.watch(runId, changed),
    tell: (ids) => {
      for (const id of ids) watchers.tell(id);
    },
    close: async () => {
      watchers.close();
      await service.close();
    },
  });
}

async function openPostgresRecords(
  url: string,
  { lookEvery = 5, answerTimeout = 25, timed }: RecordsOptions,
): Promise<ServerRecords> {
  const sql = await openPostgresSql(url, { answerTimeout });
  const service = await makeService(sql).catch(async (error) => {
    await sql.close();
    throw error;
  });
  const rows = rowsOver(service.call, timed);
  const watchers = new Watchers((ids) => rows.events.marks(ids), lookEvery * 1000);
  const news = new PostgresNews(sql, url, watchers, answerTimeout * 1_000);
  return sqlRecords({
    rows,
    watch: (runId, changed) => {
      news.listen();
      return watchers.watch(runId, changed);
    },
    tell: (ids) => news.tell(ids),
    close: async () => {
      watchers.close();
      await news.close();
      await sql.close();
    },
  });
}

/** Bundled, this file is at the top or among the chunks. */
function serviceModule(): URL {
  const here = import.meta.url;
  if (here.endsWith(".ts")) return new URL("./service-from-source.mjs", here);
  return new URL(here.includes("/chunks/") ? "../records/service.js" : "./records/service.js", here);
}

/** Every method of every table as a call to the thread of the database. */
function rowsOver(call: RecordsService["call"], timed: TimedCall = (_, work) => work()): Rows {
  const resources = Object.entries(createRows({} as Database)).map(([resource, methods]) => {
    const functions = Object.keys(methods).map((method) => [
      method,
      (...args: readonly unknown[]) => timed(resource, () => call(resource, method, args)),
    ]);
    return [resource, Object.fromEntries(functions)];
  });
  return Object.fromEntries(resources) as Rows;
}
