/** Tables of the store. Values and vectors are apart from the items, so that listing reads neither. */
import type { ColumnTypes } from "../sql/dialect.ts";
import type { Migration } from "../sql/schema.ts";

/** A published step never changes. */
export const STORE_MIGRATIONS: readonly Migration[] = [createItemTables];

function createItemTables({ id, integer, bytes, text }: ColumnTypes): string[] {
  return [
    `CREATE TABLE dw_items (id ${id}, namespace ${text} NOT NULL, item_key ${text} NOT NULL,
      created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, ttl ${integer}, expires_at ${integer},
      UNIQUE (namespace, item_key))`,
    "CREATE INDEX dw_items_of_namespace ON dw_items (namespace, id, expires_at)",
    "CREATE INDEX dw_items_expiring ON dw_items (expires_at) WHERE expires_at IS NOT NULL",
    `CREATE TABLE dw_item_values (item ${integer} PRIMARY KEY, body ${text} NOT NULL)`,
    `CREATE TABLE dw_item_vectors (item ${integer} NOT NULL, field ${text} NOT NULL, vector ${bytes} NOT NULL,
      PRIMARY KEY (item, field))`,
  ];
}
