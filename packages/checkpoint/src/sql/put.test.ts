import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { PostgresSql } from "../postgres/postgres-sql.ts";
import { SqliteSql } from "../sqlite/sqlite-sql.ts";
import { putStep, readStep, tree, uuid } from "../storage/content-for-tests.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { SqlStorage } from "./sql-storage.ts";

const BLOCKED =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

const row = (namespace: string, n: number) => ({
  namespace,
  checkpoint: { id: uuid(n), parent: undefined, root: undefined, refs: [], body: "[]" },
});

it("checkpoints that are put together are all counted, and what is left of them is still listed", async () => {
  const storage = new SqlStorage(await SqliteSql.open(":memory:"));
  await storage.start();
  const batch = { threadId: "t", epoch: 0, fence: undefined, now: 1, objects: [] };
  await storage.put({ ...batch, ...row("", 1), more: [row("child", 2), row("", 3)] });
  expect((await storage.thread("t"))?.checkpointCount).toBe(3);
  await storage.prune({ keepLatest: 1, now: 2 });
  expect((await storage.thread("t"))?.checkpointCount).toBe(2);
  expect(await storage.listThreads({ limit: 1 })).toHaveLength(1);
  await storage.close();
});

describe("in Postgres", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase();
  });

  afterAll(() => database.drop());

  it("a put that waited while its namespace was pruned is not stored in the one that is gone", async () => {
    const sql = await PostgresSql.open(database.url);
    const storage = new SqlStorage(sql);
    await storage.start();
    const child = { threadId: "t", namespace: "tools:1", root: uuid(1) };
    await putStep(storage, { threadId: "t", id: uuid(1) });
    const { epoch } = await putStep(storage, { ...child, id: uuid(2) });
    await putStep(storage, { threadId: "t", id: uuid(3) });
    const step = { ...row("tools:1", 4), threadId: "t", epoch, fence: undefined, now: 1, objects: [] };
    let putting: Promise<unknown> | undefined;
    await sql.write(async (session) => {
      await session.all("SELECT id FROM dw_threads FOR UPDATE");
      putting = storage.put(step);
      await until(async () => (await database.query(BLOCKED)).length > 0);
      await session.run("DELETE FROM dw_checkpoints WHERE space = (SELECT MAX(id) FROM dw_spaces)");
      await session.run("DELETE FROM dw_spaces WHERE namespace = 'tools:1'");
      await session.run("UPDATE dw_threads SET epoch = epoch + 1");
    });
    await putting;
    expect((await storage.readTuple("t", "tools:1", undefined))?.checkpoint.id).toBe(uuid(4));
    expect((await readStep(storage, "t"))?.content).toEqual([]);
    await putStep(storage, { ...child, id: uuid(5), content: [tree("more")] });
    await storage.close();
  });
});
