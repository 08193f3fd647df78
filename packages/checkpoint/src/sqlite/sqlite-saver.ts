import { SharedSaver } from "../saver/shared-saver.ts";
import type { SqliteOptions } from "./sqlite-sql.ts";
import { openSqliteStorage } from "./sqlite-storage.ts";

/** Threads in one SQLite file that any number of processes may use at a time. */
export class SqliteSaver extends SharedSaver {
  /** Creates the file (0600) and its directory (0700) if they are missing. `:memory:` is not kept. */
  static async open(path: string, options?: SqliteOptions): Promise<SqliteSaver> {
    return new SqliteSaver(await openSqliteStorage(path, options));
  }

  /** A consistent copy in a new file, while others read and write. */
  async backup(path: string): Promise<void> {
    await this.storage.backup?.(path);
  }
}
