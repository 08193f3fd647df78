import { afterAll } from "vitest";
import { testDatabase } from "../test-support/postgres.ts";
import { PostgresStore } from "./postgres-store.ts";
import { storeSuite } from "./store-suite-for-tests.ts";

const database = await testDatabase();

afterAll(() => database.drop());

storeSuite("Postgres", {
  open: (options) => PostgresStore.open(database.url, options),
  clear: () => database.clear(),
  execute: async (sql) => {
    await database.query(sql);
  },
  count: async (table) => Number((await database.query(`SELECT count(*) AS count FROM ${table}`))[0]!.count),
  numbers: (last) => `SELECT n FROM generate_series(1, ${last}) AS s(n)`,
});
