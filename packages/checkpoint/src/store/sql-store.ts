import type { Dialect } from "../sql/dialect.ts";
import { postgresDialect } from "../sql/postgres-dialect.ts";
import { migrate } from "../sql/schema.ts";
import type { Sql, SqlSession } from "../sql/sql.ts";
import { sqliteDialect } from "../sql/sqlite-dialect.ts";
import type { Work } from "../sql/work.ts";
import { listKeys } from "./list-keys.ts";
import { listNamespaces } from "./list-namespaces.ts";
import { putItem, putItemIf } from "./put-item.ts";
import { getItem, type ItemRow, searchItems } from "./read-items.ts";
import { STORE_MIGRATIONS } from "./store-schema.ts";
import type {
  ListKeys,
  PutItem,
  StoreBatch,
  StoredItem,
  StoredKey,
  StoreOperation,
  StoreResult,
  StoreService,
} from "./store-service.ts";

/** Items in a database, SQLite or Postgres. Does not close the database it is given. */
export class SqlStore implements StoreService {
  readonly #sql: Sql;
  readonly #dialect: Dialect;
  #prepared: Promise<void> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#dialect = sql.dialect === "sqlite" ? sqliteDialect : postgresDialect;
  }

  /** Makes the tables; called by itself before anything else, and again if that failed. */
  prepare(): Promise<void> {
    this.#prepared ??= migrate(this.#sql, this.#dialect, "store", STORE_MIGRATIONS).catch((error) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async batch({ operations, now, refreshOnRead }: StoreBatch): Promise<readonly StoreResult[]> {
    await this.prepare();
    const puts = lastOfEach(operations.filter((operation) => operation.kind === "put"));
    const work = async (session: SqlSession) => {
      const results: Result[] = [];
      for (const operation of operations) results.push(await this.#read(session, operation, now));
      for (const put of puts) await putItem(this.#workIn(session), put, now);
      return results;
    };
    const results = puts.length > 0 ? await this.#sql.write(work) : await this.#sql.read(work);
    if (refreshOnRead) await this.#refresh(results, now);
    return results.map(resultOf);
  }

  async listKeys(list: ListKeys, now: number): Promise<readonly StoredKey[]> {
    await this.prepare();
    return this.#sql.read((session) => listKeys(session, list, now));
  }

  async putIf(put: PutItem, expected: string | null, now: number): Promise<boolean> {
    await this.prepare();
    return this.#sql.write((session) => putItemIf(this.#workIn(session), put, expected, now));
  }

  async sweep(now: number, limit: number): Promise<number> {
    await this.prepare();
    return this.#sql.write(async (session) => {
      const expired = await session.all(
        `DELETE FROM dw_items WHERE expires_at <= $1 AND id IN
           (SELECT id FROM dw_items WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2) RETURNING id`,
        [now, limit],
      );
      const { list, among } = this.#dialect;
      const ids = list(expired.map((row) => row.id as number));
      await session.run(`DELETE FROM dw_item_values WHERE item ${among("$1")}`, [ids]);
      await session.run(`DELETE FROM dw_item_vectors WHERE item ${among("$1")}`, [ids]);
      return expired.length;
    });
  }

  async #read(session: SqlSession, operation: StoreOperation, now: number): Promise<Result> {
    const work = this.#workIn(session);
    if (operation.kind === "get") return getItem(work, operation, now);
    if (operation.kind === "search") return searchItems(work, operation, now);
    return operation.kind === "list" ? listNamespaces(session, operation, now) : null;
  }

  /** In a transaction of its own, so that reading what never expires writes nothing. */
  async #refresh(results: readonly Result[], now: number): Promise<void> {
    const rows = results.flat().filter((one): one is ItemRow => typeof one === "object" && one !== null);
    const ids = rows.filter((row) => row.ttl !== null).map((row) => row.id);
    if (ids.length === 0) return;
    const { list, among } = this.#dialect;
    await this.#sql.write(async (session) =>
      session.run(`UPDATE dw_items SET expires_at = ttl + $1 WHERE ttl IS NOT NULL AND id ${among("$2")}`, [
        now,
        list(ids),
      ]),
    );
  }

  #workIn(session: SqlSession): Work {
    return { session, dialect: this.#dialect };
  }
}

type Result = ItemRow | readonly ItemRow[] | readonly string[] | null;

/** In the order of their keys, so that batches that meet in Postgres wait for each other in one order. */
function lastOfEach(puts: readonly PutItem[]): PutItem[] {
  const byPlace = new Map(puts.map((put) => [`${put.namespace}\0${put.key}`, put]));
  return [...byPlace].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, put]) => put);
}

function resultOf(result: Result): StoreResult {
  if (!Array.isArray(result)) return result === null ? null : itemOf(result as ItemRow);
  return result.map((one) => (typeof one === "string" ? one : itemOf(one))) as StoredItem[] | string[];
}

function itemOf({ id: _id, ttl: _ttl, ...item }: ItemRow): StoredItem {
  return item;
}
