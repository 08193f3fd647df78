/** Threads that share content while other connections delete and prune them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresSql } from "../postgres/postgres-sql.ts";
import { putStep, readStep, type Tree, tree, uuid } from "../storage/content-for-tests.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { expectHeldToBeNeeded } from "./held-for-tests.ts";
import { SqlStorage } from "./sql-storage.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database.drop());

it("many connections put, delete and prune the same content; no object is lost and none is left", async () => {
  const sql = await PostgresSql.open(database.url, { maxConnections: 8 });
  const storage = new SqlStorage(sql);
  await storage.start();
  const expected = new Map<string, readonly Tree[]>();
  const live = async (worker: number) => {
    for (let round = 0; round < 25; round++) {
      const threadId = `${worker}`;
      const content = [0, 1, 2].map((part) => tree("common", tree(`part ${(round + part) % 5}`)));
      await putStep(storage, { threadId, id: uuid(round), content });
      expected.set(threadId, content);
      if ((round + worker) % 7 === 3) await storage.prune({ threadId, keepLatest: 1, now: 1 });
      if ((round + worker) % 9 === 5 && round < 24) await storage.deleteThread(threadId);
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(live));
  for (const [threadId, content] of expected) {
    expect((await readStep(storage, threadId))?.content).toEqual(content);
  }
  await expectHeldToBeNeeded(sql);
  for (const threadId of expected.keys()) await storage.deleteThread(threadId);
  const [left] = await sql.read(async (session) =>
    session.all("SELECT COUNT(*) AS remaining FROM dw_objects"),
  );
  expect(left?.remaining).toBe(0);
  await storage.close();
});
