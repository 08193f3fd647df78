import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../../test-support/postgres.ts";
import { inTest } from "../test-site.ts";
import { answerTwice } from "./answer-twice.ts";
import { stoppedHolder } from "./stopped-holder.ts";
import { twoWriters } from "./two-writers.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(async () => {
  await database.drop();
});

describe.each(["SQLite", "Postgres"])("two processes on one %s", (kind) => {
  const place = () => (kind === "Postgres" ? { postgres: database.url } : {});

  test("R-09 write to one thread one after the other, and nothing is lost", async () => {
    const outcome = await inTest((site) => twoWriters(site, { pairs: 20, pairsPerThread: 10, ...place() }));
    expect(outcome).toMatchObject({ ok: 20, failures: [] });
  });

  test("R-10 answer one question: one effect, and a typed error for the other", async () => {
    const outcome = await inTest((site) => answerTwice(site, { questions: 10, ...place() }));
    expect(outcome).toMatchObject({ ok: 10, failures: [] });
  });

  test("R-12 one is stopped, the other takes over, and the first does nothing when it wakes up", async () => {
    const outcome = await inTest((site) =>
      stoppedHolder(site, { times: 1, ttl: 2, where: "outside", ...place() }),
    );
    expect(outcome).toMatchObject({ ok: 1, failures: [] });
  });
});

test("R-12 one that is stopped inside a transaction on Postgres keeps its locks for ten seconds only", async () => {
  const parameters = { times: 1, ttl: 2, where: "inside", postgres: database.url } as const;
  const outcome = await inTest((site) => stoppedHolder(site, parameters));
  expect(outcome).toMatchObject({ ok: 1, failures: [] });
});
