import { type Connection, openConnection } from "../sqlite/connection.ts";
import type { SqliteOptions } from "../sqlite/sqlite-sql.ts";
import { DurableStore, type StoreOptions } from "./durable-store.ts";
import type { ListKeys, PutItem, StoreBatch, StoredKey, StoreResult, StoreService } from "./store-service.ts";

export interface SqliteStoreOptions extends StoreOptions, SqliteOptions {}

/** A store in an SQLite file, which may be that of the threads. Any number of processes may use it. */
export class SqliteStore extends DurableStore {
  readonly #connection: Connection;

  private constructor(connection: Connection, options: StoreOptions) {
    super(new RemoteStore(connection), options);
    this.#connection = connection;
  }

  /** Creates the file (0600) and its directory (0700) if they are missing. `:memory:` is not kept. */
  static async open(path: string, options: SqliteStoreOptions = {}): Promise<SqliteStore> {
    const { index, ttl, ...ofFile } = options;
    const connection = await openConnection(path, ofFile);
    try {
      await connection.call("store", "prepare", []);
      return new SqliteStore(connection, { index, ttl });
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  override async close(): Promise<void> {
    this.stopSweeping();
    await this.#connection.close();
  }
}

/** The store in the file's own thread. */
class RemoteStore implements StoreService {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async batch(batch: StoreBatch): Promise<readonly StoreResult[]> {
    return (await this.#connection.call("store", "batch", [batch])) as readonly StoreResult[];
  }

  async listKeys(list: ListKeys, now: number): Promise<readonly StoredKey[]> {
    return (await this.#connection.call("store", "listKeys", [list, now])) as readonly StoredKey[];
  }

  async putIf(put: PutItem, expected: string | null, now: number): Promise<boolean> {
    return (await this.#connection.call("store", "putIf", [put, expected, now])) as boolean;
  }

  async sweep(now: number, limit: number): Promise<number> {
    return (await this.#connection.call("store", "sweep", [now, limit])) as number;
  }
}
