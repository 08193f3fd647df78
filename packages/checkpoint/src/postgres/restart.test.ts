import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, withinLimit } from "../../../../scripts/test-time.ts";
import { lossyProxy } from "../test-support/lossy-proxy.ts";
import { privatePostgres, type TestPostgres } from "../test-support/postgres.ts";
import { PostgresSql } from "./postgres-sql.ts";

const TABLES = [
  "CREATE TABLE effects (writer int, step int, PRIMARY KEY (writer, step))",
  "CREATE TABLE totals (writer int PRIMARY KEY, steps bigint NOT NULL)",
];

let server: TestPostgres;
let sql: PostgresSql;

beforeAll(async () => {
  server = await privatePostgres();
  sql = await PostgresSql.open(server.url, { retryFor: 600 });
  await sql.write(async (session) => {
    for (const table of TABLES) await session.run(table);
  });
});

afterAll(async () => {
  await sql.close();
  await server.stop();
});

/** As our storages do it: what is there already is not counted again. */
function store(database: PostgresSql, writer: number, step: number): Promise<void> {
  return database.write(async (session) => {
    const added = await session.run("INSERT INTO effects VALUES ($1, $2) ON CONFLICT DO NOTHING", [
      writer,
      step,
    ]);
    await session.run(
      "INSERT INTO totals VALUES ($1, $2) ON CONFLICT (writer) DO UPDATE SET steps = totals.steps + $2",
      [writer, added],
    );
  });
}

async function totals(writers: readonly number[]): Promise<{ effects: number; steps: number }> {
  const [row] = await sql.read(async (session) =>
    session.all(
      `SELECT (SELECT count(*) FROM effects WHERE writer = ANY ($1)) AS effects,
              (SELECT sum(steps) FROM totals WHERE writer = ANY ($1)) AS steps`,
      [writers],
    ),
  );
  return row as { effects: number; steps: number };
}

/** Writers with trouble `times` times, and some while without it at the end. */
async function writersUnder(
  trouble: () => Promise<void>,
  times: number,
  first: number,
): Promise<readonly number[]> {
  const writers = Array.from({ length: 50 }, (_, index) => first + index);
  let running = true;
  const troubles = (async () => {
    for (let count = 0; running && count < times; count += 1) {
      await sleep(40);
      await trouble();
    }
  })();
  await Promise.all(
    writers.map(async (writer) => {
      for (let step = 0; step < 10; step += 1) await store(sql, writer, step);
    }),
  );
  running = false;
  await troubles;
  return writers;
}

describe("when connections break", () => {
  test("50 writers lose and double nothing while all their connections are cut 20 times", async () => {
    const cutter = await PostgresSql.open(`${server.url}?application_name=cutter`);
    const writers = await writersUnder(
      async () => {
        await cutter.read(async (session) =>
          session.all(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'deepwright' AND pid <> pg_backend_pid()",
          ),
        );
      },
      20,
      0,
    );
    await cutter.close();
    expect(await totals(writers)).toEqual({ effects: 500, steps: 500 });
  });

  test("50 writers lose and double nothing while the server is stopped and started", async () => {
    const writers = await writersUnder(
      async () => {
        await server.halt();
        await sleep(50);
        await server.start();
        await sleep(200);
      },
      5,
      100,
    );
    expect(await totals(writers)).toEqual({ effects: 500, steps: 500 });
  });

  test.each(["fast", "kill"] as const)("a transaction cut off by a %s end starts over", async (how) => {
    let attempts = 0;
    let started: Promise<void> | undefined;
    const result = await sql.write(async (session) => {
      attempts += 1;
      await session.run("INSERT INTO effects VALUES ($1, $2)", [200, how === "fast" ? 1 : 2]);
      if (attempts === 1) {
        await server.halt(how);
        started = sleep(300).then(() => server.start());
      }
      return session.all("SELECT 1 AS one");
    });
    // The next test may halt it only then.
    await started;
    expect(result).toEqual([{ one: 1 }]);
    expect(attempts).toBe(2);
  });

  test("a server that stays away is an error after the time to retry", async () => {
    const impatient = await PostgresSql.open(server.url, { retryFor: 0.5 });
    await server.halt();
    await withinLimit("a Postgres that stays away is an error after 0.5 s of retries", () =>
      expect(store(impatient, 300, 1)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" }),
    );
    await server.start();
    await eventually(() => store(impatient, 300, 1));
    await impatient.close();
    expect(await totals([300])).toEqual({ effects: 1, steps: 1 });
  });

  test("when the answer to COMMIT is lost the work runs again and counts once", async () => {
    const proxy = await lossyProxy(server.url, (commit) => commit === 1);
    const through = await PostgresSql.open(proxy.url);
    let attempts = 0;
    await through.write(async (session) => {
      attempts += 1;
      await session.run("INSERT INTO effects VALUES (400, 1) ON CONFLICT DO NOTHING");
      if (attempts === 2) {
        const rows = await session.all("SELECT step FROM effects WHERE writer = 400");
        expect(rows).toEqual([{ step: 1 }]);
      }
    });
    await through.close();
    proxy.close();
    expect(attempts).toBe(2);
    expect((await totals([400])).effects).toBe(1);
  });
});
