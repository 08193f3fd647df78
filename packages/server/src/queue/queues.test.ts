/** Wake-ups, in one process and over Postgres. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  privatePostgres,
  type TestDatabase,
  testDatabase,
} from "../../../checkpoint/src/test-support/postgres.ts";
import { gate, until } from "../runs/service-for-tests.ts";
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

  test("R-06: outlasts a Postgres that goes while a wake-up is being heard", async () => {
    const server = await privatePostgres();
    const errors: unknown[] = [];
    const queue = createGraphileQueue({
      connectionString: server.url,
      pollMs: 200,
      onError: (error) => errors.push(error),
    });
    const heard: string[] = [];
    const door = gate();
    await queue.start(async (threadId) => {
      heard.push(threadId);
      if (threadId === "before") await door.opened;
      return "done";
    });
    await queue.wake("before");
    await until(() => heard.length === 1, 15_000);
    await server.halt();
    await queue.wake("lost");
    door.open();
    await until(() => errors.some((error) => String(error).includes("Failed to complete")), 15_000);
    await server.start();
    await queue.wake("after");
    await until(() => heard.includes("after"), 15_000);
    expect(heard).not.toContain("lost");
    await queue.close();
    await server.stop();
  }, 60_000);

  test("R-06: hears again after an outage under load, and closes", async () => {
    const server = await privatePostgres();
    const queue = createGraphileQueue({ connectionString: server.url, pollMs: 200 });
    const heard = new Set<string>();
    await queue.start(async (threadId) => {
      heard.add(threadId);
      await new Promise((go) => setTimeout(go, 5));
      return "done";
    });
    let sent = 0;
    const sending = setInterval(() => {
      for (let each = 0; each < 10; each += 1) void queue.wake(`t${sent++}`);
    }, 20);
    await new Promise((go) => setTimeout(go, 1_000));
    await until(() => heard.size > 0, 15_000);
    await server.halt();
    await new Promise((go) => setTimeout(go, 2_000));
    await server.start();
    await new Promise((go) => setTimeout(go, 1_000));
    clearInterval(sending);
    await queue.wake("after");
    await until(() => heard.has("after"), 20_000);
    const began = performance.now();
    await queue.close();
    expect(performance.now() - began).toBeLessThan(10_000);
    await server.stop();
  }, 60_000);

  test("forgets what a process had heard that is gone", async () => {
    const connectionString = database.url;
    const sender = createGraphileQueue({ connectionString });
    await sender.wake("orphan");
    await database.query(
      `UPDATE deepwright_queue._private_jobs SET locked_by = 'gone', locked_at = now() - interval '2 minutes'`,
    );
    const queue = createGraphileQueue({ connectionString });
    await queue.start(async () => "done");
    expect(await database.query("SELECT id FROM deepwright_queue.jobs")).toEqual([]);
    await Promise.all([sender.close(), queue.close()]);
  }, 30_000);
});
