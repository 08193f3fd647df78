/** Background tasks that another server does for a thread of this one. */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AsyncTask } from "deepwright";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { PROMPT, startServer, type TestServer } from "../../server-for-tests.ts";
import { backgroundAgents, startTask } from "../background-agents-for-tests.ts";
import {
  begin,
  OWNER,
  openSite,
  type Site,
  type SiteOptions,
  textsOf,
  userSays,
} from "../service-for-tests.ts";

let far: TestServer;
let opened = 0;
/** The same call of the same thread would be the same task there. */
let t1 = "";
beforeEach(() => {
  t1 = randomUUID();
});
beforeAll(async () => {
  far = await startServer({ agents: backgroundAgents(), runs: PROMPT });
});
afterEach(() => {
  writeFileSync(gateFile(), "");
  opened += 1;
});
afterAll(() => far.close());

const PAGE = { limit: 100, offset: 0 };
const gateFile = (): string => join(far.directory, `go-${opened}`);
const openTeam = (options: SiteOptions = {}) => openSite(backgroundAgents(far.url), options);

async function tell(site: Site, threadId: string, text: string): Promise<string> {
  const run = await begin(site, threadId, { assistant_id: "boss", input: userSays(text) });
  await site.runs.wait(OWNER, run.run_id);
  const texts = await textsOf(site, threadId);
  return texts.at(texts.lastIndexOf(text) + 2) ?? "";
}

async function tasksOf(site: Site, threadId: string): Promise<AsyncTask[]> {
  const thread = await site.records.threads.get(OWNER, threadId);
  return Object.values((thread?.values as { asyncTasks?: Record<string, AsyncTask> })?.asyncTasks ?? {});
}

const newsIn = async (site: Site, threadId: string): Promise<string[]> =>
  (await textsOf(site, threadId)).filter((text) => text.startsWith("[Background task"));

async function quiet(site: Site, threadId: string): Promise<void> {
  await until(async () => {
    const runs = await site.runs.list(OWNER, threadId, PAGE);
    const isIdle = runs.every(({ status }) => status !== "pending" && status !== "running");
    return isIdle && (await site.records.mail.waiting(threadId, ["task-end"])).length === 0;
  });
}

/** Resolves when a task was looked at twice and went on. */
async function lookedAgain({ records: { background } }: Site): Promise<void> {
  const { again } = background;
  let looks = 0;
  background.again = async (...given) => {
    await again.apply(background, given);
    looks += 1;
  };
  await until(() => looks > 1);
  background.again = again;
}

const wait = (): string => `wait ${gateFile()}`;
const call = (tool: string, task_id: string): string => `${tool} ${JSON.stringify({ task_id })}`;
const statusThere = async ({ taskId, runId }: AsyncTask): Promise<string> =>
  (await far.call("GET", `/threads/${taskId}/runs/${runId}`)).body.status;
/** The tasks that the agent of a task there has started itself. */
const tasksThere = async (taskId: string): Promise<AsyncTask[]> =>
  Object.values((await far.call("GET", `/threads/${taskId}/state`)).body.values?.asyncTasks ?? {});

async function started(site: Site, threadId: string, ...orders: [string, string][]): Promise<AsyncTask[]> {
  await tell(site, threadId, orders.map(([text, who]) => startTask(text, who)).join("\n"));
  const tasks = await tasksOf(site, threadId);
  expect(tasks).toHaveLength(orders.length);
  return tasks;
}

describe("a task on another server", () => {
  test("wakes the supervisor once when it is over", async () => {
    const site = await openTeam();
    const [task] = await started(site, t1, [wait(), "far-helper"]);
    await until(async () => (await statusThere(task!)) === "running");
    writeFileSync(gateFile(), "");
    await until(async () => (await newsIn(site, t1)).length > 0);
    await quiet(site, t1);
    expect(await newsIn(site, t1)).toEqual([
      `[Background task ${task?.taskId} ('far-helper') is done. \`check_async_task\` tells more.]`,
    ]);
    expect((await textsOf(site, t1)).at(-1)).toBe("heard: 1");
    expect(await tell(site, t1, call("check_async_task", task!.taskId))).toContain(`done: ${wait()}`);
    expect(site.errors).toEqual([]);
  });

  test("that ends when its supervisor's process is gone is told by the next one", async () => {
    const site = await openTeam();
    const tasks = await started(site, t1, [wait(), "far-helper"], [`${wait()} 2`, "far-helper"]);
    await site.close();
    writeFileSync(gateFile(), "");
    await until(async () => (await statusThere(tasks[0]!)) === "success");
    const other = await openTeam({ directory: site.directory });
    await until(async () => (await newsIn(other, t1)).length === 2);
    await quiet(other, t1);
    expect(await newsIn(other, t1)).toHaveLength(2);
    expect((await tasksOf(other, t1)).map(({ status }) => status)).toEqual(["success", "success"]);
  });

  test("is not done while what it has started itself works", async () => {
    const site = await openTeam();
    const [task] = await started(site, t1, [startTask(wait(), "helper"), "far-middle"]);
    await until(async () => (await statusThere(task!)) === "success");
    expect((await far.call("GET", `/threads/${task?.taskId}`)).body).toMatchObject({ open_tasks: 1 });
    expect(await tell(site, t1, call("check_async_task", task!.taskId))).toContain("running");
    await lookedAgain(site);
    expect(await newsIn(site, t1)).toEqual([]);
    writeFileSync(gateFile(), "");
    await until(async () => (await newsIn(site, t1)).length === 1);
    expect((await newsIn(site, t1))[0]).toContain("is done");
    expect((await far.call("GET", `/threads/${task?.taskId}`)).body.open_tasks).toBeUndefined();
  });

  test("keeps a task of this server open that has started it", async () => {
    const site = await openTeam();
    const [middle] = await started(site, t1, [startTask(wait(), "far-helper"), "middle"]);
    const { taskId = "", runId = "" } = middle ?? {};
    await until(async () => (await site.runs.get(OWNER, runId))?.status === "success");
    await new Promise((go) => setTimeout(go, 500));
    expect(await newsIn(site, t1)).toEqual([]);
    writeFileSync(gateFile(), "");
    await until(async () => (await newsIn(site, t1)).length === 1);
    expect(await newsIn(site, taskId)).toHaveLength(1);
  });

  test("that waits for a person says so, once, and is done when it was answered there", async () => {
    const site = await openTeam();
    const [task] = await started(site, t1, ["ask", "far-helper"]);
    await until(async () => (await newsIn(site, t1)).length === 1);
    expect((await newsIn(site, t1))[0]).toContain("waits for a person's decision");
    await quiet(site, t1);
    await far.call("POST", `/threads/${task?.taskId}/runs/wait`, {
      assistant_id: "helper",
      command: { resume: { decisions: [{ type: "approve" }] } },
    });
    const [taken] = await site.records.background.take(1, 0);
    expect(taken).toBeUndefined();
    expect(await tell(site, t1, call("check_async_task", task!.taskId))).toContain("success");
  });
});

describe("a task that tells of its end itself", () => {
  const tellsItself = async (site: Site, { taskId, runId }: AsyncTask): Promise<void> => {
    const message = { id: `async-task-${taskId}-${runId}`, role: "user", content: "[Background task: done]" };
    const request = { assistant_id: "boss", input: { messages: [message] } };
    const run = await begin(site, t1, request, { strategy: "enqueue" });
    expect(await site.runs.wait(OWNER, run.run_id)).not.toHaveProperty("__error__");
  };

  test("after its end was seen begins nothing", async () => {
    const site = await openTeam();
    const [task] = await started(site, t1, ["quick", "far-helper"]);
    await until(async () => (await newsIn(site, t1)).length === 1);
    await quiet(site, t1);
    const texts = await textsOf(site, t1);
    await tellsItself(site, task!);
    expect(await textsOf(site, t1)).toEqual(texts);
  });

  test("before its end is seen is told of once", async () => {
    const site = await openTeam();
    const [task] = await started(site, t1, [wait(), "far-helper"]);
    await tellsItself(site, task!);
    const texts = await textsOf(site, t1);
    expect(texts.at(-1)).toBe("heard: 1");
    writeFileSync(gateFile(), "");
    await until(async () => (await site.records.background.openOn(OWNER, t1)) === 0);
    await quiet(site, t1);
    expect(await textsOf(site, t1)).toEqual(texts);
  });
});

describe("cancel", () => {
  const isStopped = async (task: AsyncTask) => (await statusThere(task)) === "interrupted";

  test("reaches what a task on another server has started, also when that itself is done", async () => {
    const site = await openTeam();
    const [task] = await started(site, t1, [startTask(wait(), "helper"), "far-middle"]);
    await until(async () => (await statusThere(task!)) === "success");
    const [low] = await tasksThere(task!.taskId);
    await until(async () => (await statusThere(low!)) === "running");
    expect(await tell(site, t1, call("cancel_async_task", task!.taskId))).toContain("is cancelled");
    await until(() => isStopped(low!));
    expect((await far.call("GET", `/threads/${task?.taskId}`)).body.open_tasks).toBeUndefined();
    await new Promise((go) => setTimeout(go, 1_000));
    expect(await newsIn(site, t1)).toEqual([]);
    expect((await far.call("GET", `/threads/${task?.taskId}/state`)).body.values.messages).toHaveLength(4);
  });

  test("of a task of this server reaches the one on another server that it has started", async () => {
    const site = await openTeam();
    const [middle] = await started(site, t1, [startTask(wait(), "far-helper"), "middle"]);
    await until(async () => (await tasksOf(site, middle!.taskId)).length === 1);
    const [low] = await tasksOf(site, middle!.taskId);
    await until(async () => (await statusThere(low!)) === "running");
    await tell(site, t1, call("cancel_async_task", middle!.taskId));
    await until(() => isStopped(low!));
    expect(await newsIn(site, t1)).toEqual([]);
  });

  test("follows when the thread is deleted, also by a process that comes later", async () => {
    const site = await openTeam();
    const [task] = await started(site, t1, [wait(), "far-helper"]);
    await until(async () => (await statusThere(task!)) === "running");
    await site.close();
    const idle = await openTeam({ directory: site.directory, works: false });
    await idle.records.threads.delete(OWNER, t1);
    await idle.close();
    await openTeam({ directory: site.directory });
    await until(() => isStopped(task!));
  });
});
