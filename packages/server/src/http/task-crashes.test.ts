/** Background tasks over HTTP, with workers in processes of their own that are killed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeEvents } from "@deepwright/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { startTask } from "../runs/background-agents-for-tests.ts";
import { type TestServer, TOKEN } from "../server-for-tests.ts";
import { openThread, type ReportedTask, startApi, startFar, startWorker } from "./task-workers-for-tests.ts";

const TASKS = 16;
let postgres: TestDatabase;

beforeAll(async () => {
  postgres = await testDatabase();
});
afterAll(() => postgres.drop());

/** All that a reader of the thread sees, until it leaves. */
async function watchThread({ url }: TestServer, threadId: string, signal: AbortSignal): Promise<string[]> {
  const seen: string[] = [];
  const response = await fetch(`${url}/threads/${threadId}/stream`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    signal,
  });
  void (async () => {
    for await (const { event, data } of decodeEvents(response.body!)) seen.push(`${event} ${data}`);
  })().catch(() => undefined);
  return seen;
}

const statusOn =
  (server: TestServer) =>
  async ({ taskId, runId }: ReportedTask): Promise<string> =>
    (await server.call("GET", `/threads/${taskId}/runs/${runId}`)).body.status;

const ordersFor = (go: string, agent?: string): string =>
  Array.from({ length: TASKS }, (_, index) => startTask(`wait ${go} ${index}`, agent)).join("\n");

/** Waits until all was told, and looks that each was told once. */
async function expectReportedOnce(
  thread: Awaited<ReturnType<typeof openThread>>,
  tasks: readonly ReportedTask[],
) {
  await expect.poll(async () => (await thread.news()).length).toBeGreaterThanOrEqual(TASKS);
  await expect.poll(() => thread.isAtRest()).toBe(true);
  const news = await thread.news();
  for (const { taskId } of tasks) expect(news.filter((text) => text.includes(taskId))).toHaveLength(1);
  expect(news).toHaveLength(TASKS);
  expect((await thread.tasks()).map(({ status }) => status)).toEqual(Array(TASKS).fill("success"));
}

describe.each(["sqlite", "postgres"] as const)("on %s", (kind) => {
  const database = () => (kind === "postgres" ? postgres.url : undefined);

  test("every end of a task is told once, though workers are killed while they work and while they tell", async () => {
    const { api, database: records } = await startApi(database());
    const [first, second] = await Promise.all([1, 2, 3].map(() => startWorker(records)));
    const go = join(api.directory, "go");
    const thread = await openThread(api);
    const leave = new AbortController();
    const seen = await watchThread(api, thread.thread_id, leave.signal);
    await thread.say(ordersFor(go));
    const tasks = await thread.tasks();
    expect(tasks).toHaveLength(TASKS);
    await expect
      .poll(async () => new Set(await Promise.all(tasks.map(statusOn(api)))))
      .toEqual(new Set(["running"]));
    first?.kill("SIGKILL");
    expect(await thread.news()).toEqual([]);
    writeFileSync(go, "");
    await expect.poll(() => thread.news()).not.toEqual([]);
    second?.kill("SIGKILL");
    await expectReportedOnce(thread, tasks);
    expect(await Promise.all(tasks.map(statusOn(api)))).toEqual(Array(TASKS).fill("success"));
    // Whoever reads the thread sees the runs that were begun to tell.
    for (const { taskId } of tasks)
      await expect.poll(() => seen.some((one) => one.includes(`${taskId} ('helper') is done`))).toBe(true);
    leave.abort();
  });

  test("every end of a task on another server is told once, though all workers are killed while it works, and one while it tells", async () => {
    const far = await startFar();
    const { api, database: records } = await startApi(database(), far.url);
    const workers = await Promise.all([1, 2].map(() => startWorker(records, far.url)));
    const go = join(api.directory, "go");
    const thread = await openThread(api);
    await thread.say(ordersFor(go, "far-helper"));
    const tasks = await thread.tasks();
    expect(tasks).toHaveLength(TASKS);
    for (const worker of workers) worker.kill("SIGKILL");
    writeFileSync(go, "");
    await expect
      .poll(async () => new Set(await Promise.all(tasks.map(statusOn(far)))))
      .toEqual(new Set(["success"]));
    expect(await thread.news()).toEqual([]);
    const [next] = await Promise.all([1, 2].map(() => startWorker(records, far.url)));
    await expect.poll(() => thread.news()).not.toEqual([]);
    next?.kill("SIGKILL");
    await expectReportedOnce(thread, tasks);
  });
});
