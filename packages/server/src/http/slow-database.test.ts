/** What clients see of a database that is slow, locked or away. */

import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { DeepwrightError } from "deepwright/errors";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { ChaosSite } from "../../../checkpoint/src/chaos/site.ts";
import { privatePostgres, testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { slowProxy } from "../../../checkpoint/src/test-support/slow-proxy.ts";
import { percentile } from "../chaos/probe.ts";
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

/** Times of `/ok` until the work is done. */
async function healthDuring(server: TestServer, work: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let going = true;
  const done = work.finally(() => {
    going = false;
  });
  while (going) {
    const began = performance.now();
    expect((await server.call("GET", "/ok")).status).toBe(200);
    times.push(performance.now() - began);
    await new Promise((go) => setTimeout(go, 20));
  }
  await done;
  return times;
}

/** A request needs three answers of Postgres, and as many for a connection of its own. */
const ANSWER_MS = 13_000;

test("R-08: with 2 s to every answer of Postgres requests stand in line or fail in time, and health answers within 200 ms", async () => {
  const database = await testDatabase();
  onTestFinished(() => database.drop());
  const proxy = await slowProxy(database.url);
  onTestFinished(() => proxy.close());
  const server = await startServer({ database: proxy.url, role: "api", limits: { answerMs: ANSWER_MS } });
  onTestFinished(() => server.close());
  const { body: thread } = await server.call("POST", "/threads", {});
  const path = `/threads/${thread.thread_id}`;
  proxy.delayMs = 2_000;
  const began = performance.now();
  const answers: TestAnswer[] = [];
  const asking = Promise.all(
    Array.from({ length: 40 }, async () => answers.push(await server.call("GET", path))),
  );
  const health = await healthDuring(server, asking);
  const seconds = (performance.now() - began) / 1_000;
  proxy.delayMs = 0;
  const late = answers.filter(({ status }) => status !== 200);
  expect(answers.length - late.length).toBeGreaterThan(0);
  expect(late.length).toBeGreaterThan(0);
  for (const answer of late) {
    expect(answer).toMatchObject(UNAVAILABLE);
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  expect(seconds).toBeLessThan(ANSWER_MS / 1_000 + 5);
  const p99 = percentile(health, 0.99);
  console.log(`/ok with 2 s to every answer of Postgres: p99 ${Math.round(p99)} ms of ${health.length}`);
  expect(p99).toBeLessThan(200);
  // Not before those are through that nobody waits for any more.
  await expect.poll(async () => (await server.call("GET", path)).status, { timeout: 15_000 }).toBe(200);
}, 60_000);

/** `TEST_OUTAGE=30 TEST_OUTAGE_RUNS=1000` for the whole case. */
const OUTAGE_MS = Number(process.env.TEST_OUTAGE ?? 1) * 1_000;
const OUTAGE_RUNS = Number(process.env.TEST_OUTAGE_RUNS ?? 20);
const TERMINATE_ALL =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";

test("R-06: when Postgres ends all connections or is away, requests fail in time with 503, runs at work wait, and all go on after it", async () => {
  const postgres = await privatePostgres();
  onTestFinished(() => postgres.stop());
  const server = await startServer({
    database: postgres.url,
    limits: { answerMs: 2_000, runs: { burst: 10_000, perSecond: 10_000 } },
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
  await expect.poll(() => server.app.runs.active, { timeout: 15_000 }).toBeGreaterThan(0);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  admin.on("error", () => {});
  const { rowCount } = await admin.query(TERMINATE_ALL);
  expect(rowCount).toBeGreaterThan(0);
  await admin.end();
  await expect
    .poll(async () => (await server.call("GET", "/threads/t0")).status, { timeout: 15_000 })
    .toBe(200);
  await postgres.halt();
  const away = server.call("GET", "/threads/t0");
  await healthDuring(server, away);
  expect(await away).toMatchObject(UNAVAILABLE);
  await new Promise((go) => setTimeout(go, OUTAGE_MS));
  await postgres.start();
  await expect
    .poll(async () => (await server.call("GET", "/threads/t0")).status, { timeout: 15_000 })
    .toBe(200);
  await inTurns(threads, 10, async (thread) => {
    const { body: runs } = await server.call("GET", `/threads/${thread}/runs`);
    expect(runs).toHaveLength(1);
    const joined = await server.call("GET", `/threads/${thread}/runs/${runs[0].run_id}/join`);
    expect(joined.body.messages.at(-1).content).toBe("done: slept");
    expect((await server.call("GET", `/threads/${thread}/runs/${runs[0].run_id}`)).body.status).toBe(
      "success",
    );
  });
}, 600_000);

/** Milliseconds for which another process has the file. */
const LOCK_MS = 10_000;

test("R-07: with its SQLite file locked by another process for 10 s the server answers all the time, and goes on afterwards", async () => {
  const server = await startServer({ limits: { answerMs: 2_000 } });
  onTestFinished(() => server.close());
  const site = await ChaosSite.open(0);
  onTestFinished(() => site.close());
  const file = join(server.directory, "server.db");
  const other = await site.worker(join(site.directory(), "other.db"));
  const begun = await server.call("POST", "/threads/t1/runs", say("wait 500"));
  expect(begun.status).toBe(200);
  await other.ask({ act: "lock", path: file, milliseconds: LOCK_MS });
  const until = new Promise((go) => setTimeout(go, LOCK_MS - 500));
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const key = { "idempotency-key": "k" };
  const began = performance.now();
  const refused = server.call("POST", "/threads/t2/runs", say("hello"), key).then((answer) => {
    expect(performance.now() - began).toBeLessThan(4_000);
    return answer;
  });
  await healthDuring(server, Promise.all([refused, until]));
  delay.disable();
  expect(await refused).toMatchObject(UNAVAILABLE);
  const stall = delay.max / 1e6;
  console.log(`longest stall while the file was locked: ${Math.round(stall)} ms`);
  expect(stall).toBeLessThanOrEqual(250);
  const again = async () => (await server.call("POST", "/threads/t2/runs", say("hello"), key)).status;
  await expect.poll(again, { timeout: 15_000 }).toBe(200);
  for (const thread of ["t1", "t2"]) {
    const { body: runs } = await server.call("GET", `/threads/${thread}/runs`);
    expect(runs).toHaveLength(1);
    const joined = await server.call("GET", `/threads/${thread}/runs/${runs[0].run_id}/join`);
    expect(joined.body.messages.at(-1).content).toBe(thread === "t1" ? "done: slept" : "echo: hello");
  }
}, 60_000);

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
}, 30_000);
