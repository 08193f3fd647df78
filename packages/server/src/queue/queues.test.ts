/** Wake-ups, in one process and over Postgres. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { until } from "../runs/service-for-tests.ts";
import { createGraphileQueue } from "./graphile.ts";
import { createInProcessQueue } from "./in-process.ts";
import type { Queue } from "./queue.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
}, 60_000);
afterAll(() => database.drop());

const kinds: [string, () => Queue][] = [
  ["in this process", createInProcessQueue],
  ["in Postgres", () => createGraphileQueue({ connectionString: database.url })],
];

describe.each(kinds)("the queue %s", (_, create) => {
  test("hands a wake-up out, at once or when it is due", async () => {
    const queue = create();
    const heard: [string, number][] = [];
    await queue.start(async (threadId) => {
      heard.push([threadId, Date.now()]);
      return "done";
    });
    const due = Date.now() + 700;
    await queue.wake("later", due);
    await queue.wake("now");
    await until(() => heard.length === 2, 15_000);
    expect(heard.map(([id]) => id)).toEqual(["now", "later"]);
    expect(heard[1]?.[1]).toBeGreaterThanOrEqual(due - 20);
    await queue.close();
    await queue.close();
  }, 30_000);

  test("after it was stopped hands out nothing", async () => {
    const queue = create();
    const heard: string[] = [];
    await queue.start(async (threadId) => {
      heard.push(threadId);
      return "done";
    });
    await queue.stop();
    await queue.wake("t");
    await new Promise((go) => setTimeout(go, 300));
    expect(heard).toEqual([]);
    await queue.close();
  }, 30_000);
});

describe("the queue in Postgres", () => {
  test("hands each wake-up to one of several processes, and one without room passes it on", async () => {
    await database.query("DROP SCHEMA IF EXISTS deepwright_queue CASCADE");
    const sender = createGraphileQueue({ connectionString: database.url });
    const heard: Record<string, string[]> = { full: [], free: [] };
    const full = createGraphileQueue({ connectionString: database.url });
    const free = createGraphileQueue({ connectionString: database.url });
    await full.start(async (threadId) => {
      heard.full?.push(threadId);
      return "full";
    });
    await free.start(async (threadId) => {
      heard.free?.push(threadId);
      return "done";
    });
    const ids = Array.from({ length: 30 }, (_, index) => `t${index}`);
    await Promise.all(ids.map((id) => sender.wake(id)));
    await until(() => new Set(heard.free).size === 30, 20_000);
    expect([...(heard.free ?? [])].sort()).toEqual([...ids].sort());
    await Promise.all([sender.close(), full.close(), free.close()]);
  }, 60_000);
});
