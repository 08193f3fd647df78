import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresStore } from "../store/postgres-store.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { openPostgresStorage } from "./postgres-storage.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.drop());

describe("opening", () => {
  test("50 processes that find the database empty at once all open it", async () => {
    const pools = Array.from({ length: 50 }, () => new pg.Pool({ connectionString: database.url, max: 1 }));
    for (const pool of pools) pool.on("error", () => {});
    const opened = await Promise.all(
      pools.map((pool, index) => (index % 2 ? openPostgresStorage({ pool }) : PostgresStore.open({ pool }))),
    );
    await Promise.all(opened.map((one) => one.close()));
    await Promise.all(pools.map((pool) => pool.end()));
    const rows = await database.query(
      "SELECT name, value FROM dw_meta WHERE name LIKE 'version:%' ORDER BY name",
    );
    expect(rows.map((row) => row.name)).toEqual(["version:store", "version:threads"]);
  });

  test("data of a newer version is refused and left alone", async () => {
    await database.query("UPDATE dw_meta SET value = value + 1 WHERE name = 'version:store'");
    await expect(PostgresStore.open(database.url)).rejects.toMatchObject({ code: "STORAGE_TOO_NEW" });
    await database.query("UPDATE dw_meta SET value = value - 1 WHERE name = 'version:store'");
    await (await PostgresStore.open(database.url)).close();
  });

  test("a database that cannot hold all letters is refused", async () => {
    const address = new URL(database.url);
    const name = `${address.pathname.slice(1)}_latin`;
    await database.query(
      `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0`,
    );
    address.pathname = `/${name}`;
    await expect(openPostgresStorage(address.href)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await database.query(`DROP DATABASE ${name} WITH (FORCE)`);
  });
});
