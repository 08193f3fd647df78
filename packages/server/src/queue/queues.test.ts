/** Wake-ups, in one process and over Postgres. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import {
  privatePostgres,
  type TestDatabase,
  testDatabase,
} from "../../../checkpoint/src/test-support/postgres.ts";
import { gate } from "../runs/service-for-tests.ts";
import { createGraphileQueue } from "./graphile.ts";
import { createInProcessQueue } from "./in-process.ts";
import type { Queue } from "./queue.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

const kinds: [string, () => Queue][] = [
  ["in this process", createInProcessQueue],
  ["in Postgres", () => createGraphileQueue({ connectionString: database.url })],
];

describe.each(kinds)("the queue %s", (_, create) => {
  test("hands a wake-up out, at once or when it is due", async () => {
    const queue = create();
    const heard = new Map<string, number>();
    await queue.start(async (threadId) => {
      heard.set(threadId, Date.now());
      return "done";
    });
    const due = Date.now() + 700;
    await queue.wake("later", due);
    await queue.wake("now");
    await until(() => heard.size === 2);
    expect(heard.get("later")).toBeGreaterThanOrEqual(due - 20);
    await queue.close();
    await queue.close();
  });

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
  });
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
    await until(() => new Set(heard.free).size === 30);
    expect([...(heard.free ?? [])].sort()).toEqual([...ids].sort());
    await Promise.all([sender.close(), full.close(), free.close()]);
  });

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
    await until(() => heard.length === 1);
    await server.halt();
    await queue.wake("lost");
    door.open();
    await until(() => errors.some((error) => String(error).includes("Failed to complete")));
    await server.start();
    await queue.wake("after");
    await until(() => heard.includes("after"));
    expect(heard).not.toContain("lost");
    await queue.close();
    await server.stop();
  });

  test("R-06: hears again after an outage under load, and closes", async () => {
    const server = await privatePostgres();
    let lost = 0;
    const onError = (error: unknown) => {
      if (String(error).includes("a wake-up is lost")) lost += 1;
    };
    const queue = createGraphileQueue({ connectionString: server.url, pollMs: 200, onError });
    const heard = new Set<string>();
    await queue.start(async (threadId) => {
      heard.add(threadId);
      await new Promise((go) => setTimeout(go, 5));
      return "done";
    });
    let sent = 0;
    const sending = setInterval(() => {
      // No more than can be heard soon, however slow the machine is.
      for (let each = 0; each < 10 && sent - heard.size - lost < 200; each += 1)
        void queue.wake(`t${sent++}`);
    }, 20);
    await until(() => heard.size > 50);
    await server.halt();
    await new Promise((go) => setTimeout(go, 1_000));
    await server.start();
    const before = sent;
    await until(() => [...heard].some((threadId) => Number(threadId.slice(1)) >= before));
    clearInterval(sending);
    await queue.wake("after");
    await until(() => heard.has("after"));
    await queue.close();
    await server.stop();
  });

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
  });
});
