/** Threads that share content while other connections delete and prune them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { putStep, readStep, type Tree, tree, uuid } from "../home/content-for-tests.ts";
import { PostgresSql } from "../postgres/postgres-sql.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { expectHeldToBeNeeded } from "./held-for-tests.ts";
import { SqlHome } from "./sql-home.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.drop());

it("many connections put, delete and prune the same content; no object is lost and none is left", async () => {
  const sql = await PostgresSql.open(database.url, { maxConnections: 8 });
  const home = new SqlHome(sql);
  await home.start();
  const expected = new Map<string, readonly Tree[]>();
  const live = async (worker: number) => {
    for (let round = 0; round < 25; round++) {
      const threadId = `${worker}`;
      const content = [0, 1, 2].map((part) => tree("common", tree(`part ${(round + part) % 5}`)));
      await putStep(home, { threadId, id: uuid(round), content });
      expected.set(threadId, content);
      if ((round + worker) % 7 === 3) await home.prune({ threadId, keepLatest: 1, now: 1 });
      if ((round + worker) % 9 === 5 && round < 24) await home.deleteThread(threadId);
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(live));
  for (const [threadId, content] of expected) {
    expect((await readStep(home, threadId))?.content).toEqual(content);
  }
  await expectHeldToBeNeeded(sql);
  for (const threadId of expected.keys()) await home.deleteThread(threadId);
  const [left] = await sql.read(async (session) =>
    session.all("SELECT COUNT(*) AS remaining FROM dw_objects"),
  );
  expect(left?.remaining).toBe(0);
  await home.close();
});
