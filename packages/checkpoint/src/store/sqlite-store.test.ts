import { openDatabase } from "../sqlite/driver.ts";
import { scratchFile } from "../sqlite/scratch-for-tests.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { storeSuite } from "./store-suite-for-tests.ts";

const path = scratchFile();

function direct(sql: string): unknown[] {
  const database = openDatabase(path, { timeout: 60_000, enableForeignKeyConstraints: false });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

storeSuite("SQLite", {
  open: (options) => SqliteStore.open(path, options),
  clear: async () => {
    for (const table of ["dw_items", "dw_item_values", "dw_item_vectors"]) direct(`DELETE FROM ${table}`);
  },
  execute: async (sql) => {
    direct(sql);
  },
  count: async (table) => (direct(`SELECT count(*) AS count FROM ${table}`)[0] as { count: number }).count,
  numbers: (last) =>
    `WITH RECURSIVE counting(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counting WHERE n < ${last}) SELECT n FROM counting`,
});
