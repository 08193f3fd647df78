/** Clients of a server whose database is slow, locked or away. */

import { join } from "node:path";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { DeepwrightError } from "deepwright/errors";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { withinLimit } from "../../../../scripts/test-time.ts";
import { ChaosSite } from "../../../checkpoint/src/chaos/site.ts";
import { faultyProxy } from "../../../checkpoint/src/test-support/faulty-proxy.ts";
import { privatePostgres, testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { startServer, type TestAnswer, type TestServer } from "../server-for-tests.ts";

const UNAVAILABLE = { status: 503, body: { code: "UNAVAILABLE" } };
const say = (content: string) => ({
  assistant_id: "echo",
  input: { messages: [{ role: "user", content }] },
  if_not_exists: "create",
});

/** So many at a time. */
async function inTurns<T>(all: readonly T[], atOnce: number, act: (each: T) => Promise<unknown>) {
  const left = [...all];
  const next = async () => {
    for (let each = left.shift(); each !== undefined; each = left.shift()) await act(each);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

/** How often `/ok` was answered until the work was done. */
async function healthDuring(
  server: TestServer,
  work: Promise<unknown>,
  ask = () => server.call("GET", "/ok"),
): Promise<number> {
  let times = 0;
  let going = true;
  const done = work.finally(() => {
    going = false;
  });
  while (going) {
    expect((await ask()).status).toBe(200);
    times += 1;
    await new Promise((go) => setTimeout(go, 20));
  }
  await done;
  return times;
}

/** Longer than it takes for the first: a request needs three answers of Postgres, and as many for a connection of its own. */
const ANSWER_MS = 24_000;
const REQUESTS = 160;

test("R-08: with 2 s to every answer of Postgres requests stand in line or fail in time, and health answers within 200 ms", async () => {
  const database = await testDatabase();
  onTestFinished(() => database.drop());
  const proxy = await faultyProxy(database.url);
  onTestFinished(() => proxy.close());
  const server = await startServer({ database: proxy.url, role: "api", limits: { answerMs: ANSWER_MS } });
  onTestFinished(() => server.close());
  const { body: thread } = await server.call("POST", "/threads", {});
  const path = `/threads/${thread.thread_id}`;
  proxy.delayMs = 2_000;
  const answers: TestAnswer[] = [];
  const asking = Promise.all(
    Array.from({ length: REQUESTS }, async () => answers.push(await server.call("GET", path))),
  );
  await healthDuring(server, asking, () =>
    withinLimit("/ok while Postgres takes 2 s for every answer", () => server.call("GET", "/ok")),
  );
  proxy.delayMs = 0;
  const late = answers.filter(({ status }) => status !== 200);
  expect(answers.length - late.length).toBeGreaterThan(0);
  expect(late.length).toBeGreaterThan(0);
  for (const answer of late) {
    expect(answer).toMatchObject(UNAVAILABLE);
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  // Not before those are through that nobody waits for any more.
  await expect.poll(async () => (await server.call("GET", path)).status).toBe(200);
});

const OUTAGE_MS = sized(1_000, 30_000);
const OUTAGE_RUNS = sized(15, 300);
const TERMINATE_ALL =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";

test("R-06: when Postgres ends all connections or is away, requests fail in time with 503, runs at work wait, and all go on after it", async () => {
  const postgres = await privatePostgres();
  onTestFinished(() => postgres.stop());
  const server = await startServer({
    database: postgres.url,
    limits: { answerMs: 5_000, runs: { burst: 10_000, perSecond: 10_000 } },
    runs: { claimTtl: 2 },
  });
  onTestFinished(() => server.close());
  const threads = Array.from({ length: OUTAGE_RUNS }, (_, index) => `t${index}`);
  // Who is told to come again does so, under the same key.
  const begin = async (thread: string) => {
    const key = { "idempotency-key": thread };
    for (;;) {
      const { status } = await server.call("POST", `/threads/${thread}/runs`, say("wait 2000"), key);
      if (status === 200) return;
      expect(status).toBe(503);
    }
  };
  await inTurns(threads, 10, begin);
  await expect.poll(() => server.app.runs.active).toBeGreaterThan(0);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  admin.on("error", () => {});
  const { rowCount } = await admin.query(TERMINATE_ALL);
  expect(rowCount).toBeGreaterThan(0);
  await admin.end();
  await expect.poll(async () => (await server.call("GET", "/threads/t0")).status).toBe(200);
  await postgres.halt();
  const away = server.call("GET", "/threads/t0");
  await healthDuring(server, away);
  expect(await away).toMatchObject(UNAVAILABLE);
  await new Promise((go) => setTimeout(go, OUTAGE_MS));
  await postgres.start();
  await expect.poll(async () => (await server.call("GET", "/threads/t0")).status).toBe(200);
  await inTurns(threads, 10, async (thread) => {
    const { body: runs } = await server.call("GET", `/threads/${thread}/runs`);
    expect(runs).toHaveLength(1);
    const joined = await server.call("GET", `/threads/${thread}/runs/${runs[0].run_id}/join`);
    expect(joined.body.messages.at(-1).content).toBe("done: slept");
    expect((await server.call("GET", `/threads/${thread}/runs/${runs[0].run_id}`)).body.status).toBe(
      "success",
    );
  });
});

/** Milliseconds for which another process has the file. */
const LOCK_MS = 10_000;

test("R-07: with its SQLite file locked by another process for 10 s the server answers all the time, and goes on afterwards", async () => {
  const server = await startServer({ limits: { answerMs: 4_000 }, runs: { claimTtl: 2 } });
  onTestFinished(() => server.close());
  const site = await ChaosSite.open(0);
  onTestFinished(() => site.close());
  const file = join(server.directory, "server.db");
  const other = await site.worker(join(site.directory(), "other.db"));
  const begun = await server.call("POST", "/threads/t1/runs", say("wait 500"));
  expect(begun.status).toBe(200);
  await other.ask({ act: "lock", path: file });
  const locked = new Promise((go) => setTimeout(go, LOCK_MS));
  const key = { "idempotency-key": "k" };
  const refused = server.call("POST", "/threads/t2/runs", say("hello"), key);
  // A server that waited for the file itself would answer a few times.
  expect(await healthDuring(server, Promise.all([refused, locked]))).toBeGreaterThan(30);
  expect(await refused).toMatchObject(UNAVAILABLE);
  await other.ask({ act: "unlock" });
  const again = async () => (await server.call("POST", "/threads/t2/runs", say("hello"), key)).status;
  await expect.poll(again).toBe(200);
  for (const thread of ["t1", "t2"]) {
    const { body: runs } = await server.call("GET", `/threads/${thread}/runs`);
    expect(runs).toHaveLength(1);
    const joined = await server.call("GET", `/threads/${thread}/runs/${runs[0].run_id}/join`);
    expect(joined.body.messages.at(-1).content).toBe(thread === "t1" ? "done: slept" : "echo: hello");
  }
});

test("R-06: a run whose step could not be stored is taken up again and ends well", async () => {
  const saver = await SqliteSaver.open(":memory:");
  onTestFinished(() => saver.close());
  const put = saver.put.bind(saver);
  let outages = 2;
  saver.put = async (...step) => {
    if (outages-- > 0) throw new DeepwrightError("STORAGE_UNAVAILABLE", "It is away.");
    return put(...step);
  };
  const errors: unknown[] = [];
  const server = await startServer({
    saver,
    runs: { claimTtl: 1, scanInterval: 0.2 },
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => server.close());
  const { body } = await server.call("POST", "/threads/t1/runs/wait", say("hello"));
  expect(body.messages.at(-1).content).toBe("echo: hello");
  expect(errors).toHaveLength(2);
});
