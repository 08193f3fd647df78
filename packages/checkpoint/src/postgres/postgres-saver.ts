import { SharedSaver } from "../saver/shared-saver.ts";
import { openPostgresStorage, type PostgresConnection, type PostgresOptions } from "./postgres-storage.ts";

/** Threads in a Postgres database that any number of machines may use at a time. */
export class PostgresSaver extends SharedSaver {
  /** Makes its tables (`dw_…`) if they are missing. Savers and stores of one URL share one pool. */
  static async open(connection: PostgresConnection, options?: PostgresOptions): Promise<PostgresSaver> {
    return new PostgresSaver(await openPostgresStorage(connection, options));
  }
}
