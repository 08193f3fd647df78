/** Where the server keeps things: what it is not given, it opens, and closes again. */
import type { SharedSaver } from "@deepwright/checkpoint";
import { PostgresSaver, PostgresStore } from "@deepwright/checkpoint/postgres";
import { SqliteSaver, SqliteStore } from "@deepwright/checkpoint/sqlite";
import type { BaseStore } from "@langchain/langgraph";
import { checkDurations } from "deepwright/duration";
import { openRecords, type TimedCall } from "../records/open-records.ts";
import type { ServerRecords } from "../records/records.ts";

export interface StorageOptions {
  /** A file for SQLite, or the URL of a Postgres. Default `:memory:`, which ends with the process. */
  readonly database?: string;
  /** Seconds a statement of Postgres may stay unanswered before its connection is given up. Default 25. */
  readonly databaseTimeout?: number;
  readonly records?: ServerRecords;
  /** Threads. Of `@deepwright/checkpoint`, since others cannot copy, claim and compare them. */
  readonly saver?: SharedSaver;
  /** The store of agents and clients, beyond threads. Default: in the database; null: none. */
  readonly store?: BaseStore | null;
}

export interface ServerStorage {
  readonly records: ServerRecords;
  readonly saver: SharedSaver;
  readonly store: BaseStore | undefined;
  /** The URL of the Postgres; absent on one machine. */
  readonly postgres: string | undefined;
  /** Seconds. */
  readonly databaseTimeout: number;
  /** Closes what was opened here. Safe twice. */
  close(): Promise<void>;
}

/** Calls of the saver that read or write the database. */
const SAVER_CALLS = ["getTuple", "put", "putWrites"] as const;

/** Measures calls of a saver that the server opened itself. */
function timedSaver(saver: SharedSaver, timed: TimedCall): SharedSaver {
  for (const name of SAVER_CALLS) {
    const call = saver[name].bind(saver) as (...given: unknown[]) => Promise<unknown>;
    Object.assign(saver, { [name]: (...given: unknown[]) => timed("checkpoints", () => call(...given)) });
  }
  return saver;
}

export async function openStorage(options: StorageOptions, timed: TimedCall): Promise<ServerStorage> {
  const { database = ":memory:", databaseTimeout = 25 } = options;
  checkDurations({ unit: "seconds", most: 86_400 }, { databaseTimeout });
  const timeout = { answerTimeout: databaseTimeout };
  const postgres = /^postgres(?:ql)?:\/\//.test(database) ? database : undefined;
  const opened: { close(): Promise<unknown> | unknown }[] = [];
  const own = async <T extends { close(): Promise<unknown> | unknown }>(open: Promise<T>): Promise<T> => {
    const part = await open;
    opened.unshift(part);
    return part;
  };
  const close = async () => {
    for (const part of opened.splice(0)) await part.close();
  };
  try {
    const openSaver = (): Promise<SharedSaver> =>
      own(postgres ? PostgresSaver.open(postgres, timeout) : SqliteSaver.open(database));
    const saver = options.saver ?? timedSaver(await openSaver(), timed);
    const store =
      options.store === undefined
        ? await own<SqliteStore | PostgresStore>(
            postgres ? PostgresStore.open(postgres, timeout) : SqliteStore.open(database),
          )
        : (options.store ?? undefined);
    const records =
      options.records ??
      (await own(openRecords(postgres ? { postgres } : { sqlite: database }, { ...timeout, timed })));
    return { records, saver, store, postgres, databaseTimeout, close };
  } catch (error) {
    await close();
    throw error;
  }
}
