/** Connections that die without a word, or half of them. */
import { afterAll, onTestFinished as afterTest, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { type FaultyProxy, faultyProxy } from "../test-support/faulty-proxy.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { listenPostgres } from "./listen.ts";
import { PostgresSql } from "./postgres-sql.ts";
import { openPostgresPool } from "./shared-pool.ts";

const ANSWER_SECONDS = 1;

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await database.query("CREATE TABLE effects (step int PRIMARY KEY)");
});

afterAll(() => database.drop());

async function proxied(): Promise<{ proxy: FaultyProxy; sql: PostgresSql }> {
  const proxy = await faultyProxy(database.url);
  const sql = await PostgresSql.open(proxy.url, { answerTimeout: ANSWER_SECONDS });
  afterTest(async () => {
    await sql.close();
    proxy.close();
  });
  return { proxy, sql };
}

const FAULTS: Record<string, (proxy: FaultyProxy) => void> = {
  "lose their answers": (proxy) => proxy.swallow(),
  "are reset": (proxy) => proxy.reset(),
  "end towards us": (proxy) => proxy.halfClose("client"),
  "end towards Postgres, and we do not hear of it": (proxy) => proxy.halfClose("postgres"),
};

describe.each(Object.entries(FAULTS))("when connections %s", (_, fail) => {
  test("a transaction under way begins again on a new one, and counts once", async () => {
    const { proxy, sql } = await proxied();
    const step = Math.floor(Math.random() * 1e9);
    let attempts = 0;
    await sql.write(async (session) => {
      attempts += 1;
      await session.run("INSERT INTO effects VALUES ($1) ON CONFLICT DO NOTHING", [step]);
      if (attempts === 1) fail(proxy);
      await session.all("SELECT 1");
    });
    expect(attempts).toBe(2);
    expect(await database.query("SELECT step FROM effects WHERE step = $1", [step])).toHaveLength(1);
  });

  test("while they are idle, the next transactions are done all the same", async () => {
    const { proxy, sql } = await proxied();
    const ask = () => sql.read(async (session) => session.all("SELECT 1 AS one"));
    await Promise.all([ask(), ask(), ask()]);
    expect(proxy.open).toBeGreaterThan(0);
    fail(proxy);
    expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual(Array(4).fill([{ one: 1 }]));
  });
});

test("a statement that Postgres works on for too long is ended there, and said to be so", async () => {
  const { sql } = await proxied();
  const slow = sql.read(async (session) => session.all("SELECT pg_sleep(600)"));
  await expect(slow).rejects.toMatchObject({ code: "STORAGE_BUSY" });
  const running =
    "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid() AND state = 'active'";
  expect(await database.query(running)).toEqual([]);
  const patient = sql.read(async (session) => session.all(`SELECT pg_sleep(${2 * ANSWER_SECONDS})`), {
    isSlow: true,
  });
  expect(await patient).toHaveLength(1);
});

test("a pool of the caller's own is watched while a transaction uses it, and not otherwise", async () => {
  const { default: pg } = await import("pg");
  const proxy = await faultyProxy(database.url);
  const pool = new pg.Pool({ connectionString: proxy.url, max: 1 });
  pool.on("error", () => {});
  const sql = await PostgresSql.open({ pool }, { answerTimeout: ANSWER_SECONDS });
  afterTest(async () => {
    await sql.close();
    await pool.end();
    proxy.close();
  });
  await sql.read(async (session) => session.all("SELECT 1"));
  expect((await pool.query(`SELECT pg_sleep(${2 * ANSWER_SECONDS})`)).rowCount).toBe(1);
  proxy.swallow();
  expect(await sql.read(async (session) => session.all("SELECT 1 AS one"))).toEqual([{ one: 1 }]);
});

describe("a connection that waits for notifications", () => {
  test("is made again when it hears nothing any more, and stays when there is nothing to hear", async () => {
    const proxy = await faultyProxy(database.url);
    const heard: (string | undefined)[] = [];
    const stop = listenPostgres(proxy.url, "news", (payload) => heard.push(payload), ANSWER_SECONDS * 1_000);
    afterTest(async () => {
      await stop();
      proxy.close();
    });
    await eventually(() => expect(heard).toEqual([undefined]));
    await new Promise((go) => setTimeout(go, 2_000 * ANSWER_SECONDS));
    expect(heard).toEqual([undefined]);
    proxy.swallow();
    await eventually(() => expect(heard).toEqual([undefined, undefined]));
    await database.query("SELECT pg_notify('news', 'again')");
    await eventually(() => expect(heard).toEqual([undefined, undefined, "again"]));
  });

  test("can be given up while nothing is heard", async () => {
    const proxy = await faultyProxy(database.url);
    afterTest(() => proxy.close());
    const heard: (string | undefined)[] = [];
    const stop = listenPostgres(proxy.url, "news", (payload) => heard.push(payload), 600_000);
    await eventually(() => expect(heard).toEqual([undefined]));
    proxy.halfClose("postgres");
    await stop();
  });

  test("ends with an error when it is a queue's, whose queries end with one too", async () => {
    const proxy = await faultyProxy(database.url);
    const pool = await openPostgresPool(proxy.url, 2, ANSWER_SECONDS * 1_000);
    afterTest(async () => {
      await pool.end();
      proxy.close();
    });
    const waiting = await pool.connect();
    const lost = new Promise((done) => waiting.on("error", done));
    await waiting.query("LISTEN news");
    proxy.swallow();
    const asked = expect(pool.query("SELECT 1")).resolves.toMatchObject({ rowCount: 1 });
    await expect(lost).resolves.toMatchObject({ message: expect.stringContaining("no answer") });
    waiting.release(true);
    await asked;
  });

  test("a pool that has ended tells whoever still asks for a connection, who has nothing to give back", async () => {
    const pool = await openPostgresPool(database.url, 1);
    await pool.end();
    const told = await new Promise<unknown[]>((done) => pool.connect((...given) => done(given)));
    expect(told[0]).toBeInstanceOf(Error);
    expect(told[2]).toBeUndefined();
  });

  test("may be given back twice when it is a queue's", async () => {
    const pool = await openPostgresPool(database.url, 1);
    await new Promise<void>((done) => {
      pool.connect((_error, _client, release) => {
        release();
        release();
        done();
      });
    });
    expect((await pool.query("SELECT 1")).rowCount).toBe(1);
    await pool.end();
  });
});
