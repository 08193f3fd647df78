import { afterAll } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { PostgresSaver } from "../postgres/index.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { damageSuite } from "./damage-suite-for-tests.ts";
import { WRONG_VALUES, withBytes } from "./edits-for-tests.ts";

let database: TestDatabase;
let restore: string[] = [];

const TABLES = [
  "dw_meta",
  "dw_threads",
  "dw_spaces",
  "dw_objects",
  "dw_shares",
  "dw_checkpoints",
  "dw_writes",
  "dw_images",
];

/** Both databases share the checks; the full table runs in the long form. */
const SOME = WRONG_VALUES.filter((_, place) => place % sized(8, 1) === 0);

afterAll(() => database.drop());

damageSuite(SOME, {
  prepare: async (fill) => {
    database = await testDatabase();
    await using saver = await PostgresSaver.open(database.url);
    await fill(saver);
    for (const table of TABLES) await database.query(`CREATE TABLE kept_${table} AS TABLE ${table}`);
    restore = TABLES.flatMap((table) => [
      `TRUNCATE ${table}`,
      `INSERT INTO ${table} SELECT * FROM kept_${table}`,
    ]);
  },
  open: async (edit) => {
    await database.query(restore.join("; "));
    const statements = (await edit?.statements((sql) => database.query(sql))) ?? [];
    if (statements.length > 0)
      await database.query(
        statements.map((sql) => withBytes(sql, (hex) => `decode('${hex}', 'hex')`)).join("; "),
      );
    return PostgresSaver.open(database.url);
  },
});
