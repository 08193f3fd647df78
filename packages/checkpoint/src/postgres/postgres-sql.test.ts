import { DeepwrightError } from "deepwright/errors";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { PostgresSql } from "./postgres-sql.ts";

let database: TestDatabase;
let sql: PostgresSql;

beforeAll(async () => {
  database = await testDatabase();
  sql = await PostgresSql.open(database.url);
  await sql.write(async (session) => {
    await session.run("CREATE TABLE counter (name text PRIMARY KEY, value bigint NOT NULL, body bytea)");
  });
});

afterAll(async () => {
  await sql.close();
  await database.drop();
});

describe("PostgresSql", () => {
  test("values come back as SQLite gives them", async () => {
    const bytes = new Uint8Array([0, 1, 254, 255]);
    const [row] = await sql.read(async (session) =>
      session.all(
        `SELECT $1::bigint AS big, $2::bytea AS bytes, $3::text AS text, NULL AS nothing, 1 = 1 AS truth,
                sum(x) AS total, 1.5::float8 AS real, -70000::int AS small
           FROM unnest($4::bigint[]) AS t(x)`,
        [2 ** 52 + 1, bytes, "é\u{1f600}", [-123_456_789_012, 1, 2]],
      ),
    );
    expect(row).toEqual({
      big: 2 ** 52 + 1,
      bytes,
      text: "é\u{1f600}",
      nothing: null,
      truth: 1,
      total: -123_456_789_009,
      real: 1.5,
      small: -70_000,
    });
    expect(row!.bytes!.constructor).toBe(Uint8Array);
  });

  test("bytes are read whatever form the server is set to", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const [row] = await sql.read(async (session) => {
      await session.all("SET LOCAL bytea_output = 'escape'");
      return session.all("SELECT $1::bytea AS bytes", [bytes]);
    });
    expect(row!.bytes).toEqual(bytes);
  });

  test("a list of bytes is matched with ANY", async () => {
    const hashes = [new Uint8Array([1, 2]), new Uint8Array([255, 0])];
    const rows = await sql.read(async (session) =>
      session.all("SELECT x FROM unnest($1::bytea[]) AS t(x)", [hashes]),
    );
    expect(rows.map((row) => row.x)).toEqual(hashes);
  });

  test("bytes are counted for what was committed", async () => {
    const before = sql.bytesWritten;
    const insert = "INSERT INTO counter VALUES ($1, $2, $3)";
    await sql.write(async (session) => {
      await session.run(insert, ["é", 5, new Uint8Array(10)]);
      await session.run("DELETE FROM counter WHERE name = $1", ["é"]);
    });
    expect(sql.bytesWritten - before).toBe(2 + 8 + 10);
    await expect(
      sql.write(async (session) => {
        await session.run(insert, ["gone", 5, null]);
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(sql.bytesWritten - before).toBe(20);
    expect(await database.query("SELECT * FROM counter")).toEqual([]);
  });

  test("a read sees one moment and cannot write", async () => {
    await database.query("INSERT INTO counter VALUES ('seen', 1)");
    await sql.read(async (session) => {
      const count = async () =>
        (await session.all("SELECT value FROM counter WHERE name = 'seen'"))[0]!.value;
      expect(await count()).toBe(1);
      await database.query("UPDATE counter SET value = 2 WHERE name = 'seen'");
      expect(await count()).toBe(1);
    });
    const away = await PostgresSql.open(database.url, { retryFor: 0 });
    await expect(away.read(async (session) => session.run("DELETE FROM counter"))).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
    });
    await away.close();
  });

  test("work that lost a race or a deadlock runs again", async () => {
    await database.query("INSERT INTO counter VALUES ('a', 0), ('b', 0)");
    const both = async (first: string, second: string) =>
      sql.write(async (session) => {
        for (const name of [first, second]) {
          await session.run("UPDATE counter SET value = value + 1 WHERE name = $1", [name]);
        }
      });
    await Promise.all(Array.from({ length: 6 }, (_, i) => (i % 2 ? both("a", "b") : both("b", "a"))));
    expect(await database.query("SELECT value FROM counter WHERE name IN ('a', 'b')")).toEqual([
      { value: "6" },
      { value: "6" },
    ]);
    const claims = await Promise.all(
      Array.from({ length: 20 }, () =>
        sql.write(async (session) => {
          const [row] = await session.all("SELECT 1 FROM counter WHERE name = 'once'");
          if (row) return 0;
          return session.run("INSERT INTO counter VALUES ('once', 1)");
        }),
      ),
    );
    expect(claims.reduce((a, b) => a + b)).toBe(1);
  });

  test("a swallowed failure inside a transaction is not taken for success", async () => {
    const work = sql.write(async (session) => {
      await session.run("INSERT INTO counter VALUES ('half', 1)");
      await Promise.resolve(session.run("SELECT nonsense")).catch(() => {});
    });
    await expect(work).rejects.toThrow("ignored inside a transaction");
  });

  test("closing lets what is under way end, and leaves nobody waiting", async () => {
    const closing = await PostgresSql.open(`${database.url}?application_name=closing`, { maxConnections: 2 });
    const work = Array.from({ length: 20 }, (_, n) =>
      closing.write(async (session) => session.all("SELECT $1::int AS n, pg_sleep(0.01)", [n])),
    );
    await closing.close();
    expect((await Promise.all(work)).map(([row]) => row!.n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  test("after close it says so", async () => {
    const closing = await PostgresSql.open(database.url);
    await closing.close();
    await closing.close();
    await expect(closing.read(async () => 1)).rejects.toMatchObject({ code: "STORAGE_CLOSED" });
  });
});

describe("addresses that do not work", () => {
  const attempt = async (url: string): Promise<DeepwrightError> => {
    const broken = await PostgresSql.open(url, { retryFor: 0.2 });
    try {
      await broken.read(async (session) => session.all("SELECT 1"));
    } catch (error) {
      return error as DeepwrightError;
    } finally {
      await broken.close();
    }
    throw new Error("expected a failure");
  };
  const change = (edit: (url: URL) => void): string => {
    const url = new URL(database.url);
    edit(url);
    return url.href;
  };

  test.each([
    ["refused the user or the password", () => change((url) => (url.password = "wr0ng-s3cret"))],
    ["no such database", () => change((url) => (url.pathname = "/nowhere"))],
    ["no host of that name", () => "postgresql://me:wr0ng-s3cret@nowhere.invalid/db"],
    ["ECONNREFUSED", () => "postgresql://me:wr0ng-s3cret@127.0.0.1:1/db"],
    ["not a URL", () => "postgresql://me:wr0ng-s3cret@[:1/db"],
  ])("%s: a typed error without the password", async (words, url) => {
    const error = await attempt(url());
    expect(error).toBeInstanceOf(DeepwrightError);
    expect(["STORAGE_UNAVAILABLE", "INVALID_OPTION"]).toContain(error.code);
    expect(error.message).toContain(words);
    const { inspect } = await import("node:util");
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("wr0ng-s3cret");
  });
});

describe("pools", () => {
  test("all on one URL share a pool, and the last one closes it", async () => {
    const connections = async () =>
      Number(
        (
          await database.query(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'deepwright' AND datname = current_database()",
          )
        )[0]!.count,
      );
    const many = await Promise.all(Array.from({ length: 30 }, () => PostgresSql.open(database.url)));
    await Promise.all(many.map((one) => one.read(async (session) => session.all("SELECT pg_sleep(0.01)"))));
    expect(await connections()).toBeLessThanOrEqual(10);
    await Promise.all(many.map((one) => one.close()));
    expect(await sql.read(async (session) => session.all("SELECT 1 AS one"))).toEqual([{ one: 1 }]);
  });

  test("a pool of the user is used and left open", async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 2 });
    const borrowed = await PostgresSql.open({ pool });
    expect(await borrowed.read(async (session) => session.all("SELECT 1 AS one"))).toEqual([{ one: 1 }]);
    await borrowed.close();
    expect(pool.listenerCount("error")).toBe(0);
    // The database may be dropped before the last connection has said good-bye.
    pool.on("error", () => {});
    expect((await pool.query("SELECT 2 AS two")).rows).toEqual([{ two: 2 }]);
    await pool.end();
  });
});
