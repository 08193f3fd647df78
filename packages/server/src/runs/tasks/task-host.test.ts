/** Background tasks of agents as runs of the server. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AsyncTask } from "deepwright";
import { describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { backgroundAgents, startTask } from "../background-agents-for-tests.ts";
import {
  begin,
  eventsOf,
  OWNER,
  openSite,
  type Site,
  type SiteOptions,
  textsOf,
  userSays,
} from "../service-for-tests.ts";
import { newThread } from "../thread-of-run.ts";

const openTeam = (options: SiteOptions = {}) => openSite(backgroundAgents(), options);

const PAGE = { limit: 100, offset: 0 };

/** The supervisor of a thread is told something, and has done what it says. */
async function tell(site: Site, threadId: string, text: string): Promise<void> {
  const run = await begin(site, threadId, { assistant_id: "boss", input: userSays(text) });
  await site.runs.wait(OWNER, run.run_id);
}

async function tasksOf(site: Site, threadId: string): Promise<AsyncTask[]> {
  const thread = await site.records.threads.get(OWNER, threadId);
  return Object.values((thread?.values as { asyncTasks?: Record<string, AsyncTask> })?.asyncTasks ?? {});
}

const newsIn = async (site: Site, threadId: string): Promise<string[]> =>
  (await textsOf(site, threadId)).filter((text) => text.startsWith("[Background task"));

const file = (site: Site, name: string): string => join(site.directory, name);
const open = (site: Site, name: string): void => writeFileSync(file(site, name), "");
const statusOf = async (site: Site, threadId: string) =>
  (await site.runs.list(OWNER, threadId, { ...PAGE, limit: 1 }))[0]?.status;

/** Nothing is to be read and nothing at work. */
async function quiet(site: Site, threadId: string): Promise<void> {
  await until(async () => {
    const runs = await site.runs.list(OWNER, threadId, PAGE);
    const isIdle = runs.every(({ status }) => status !== "pending" && status !== "running");
    return isIdle && (await site.records.mail.waiting(threadId, ["task-end"])).length === 0;
  });
}

/** As a worker would that is gone the moment after. */
async function endByHand({ records }: Site, threadId: string): Promise<void> {
  const claim = await records.runs.claimNext(threadId, "gone", 600_000);
  await records.runs.finish(claim!, { status: "success", threadStatus: "idle" }, []);
}

async function toolWords(site: Site, threadId: string, text: string): Promise<string> {
  await tell(site, threadId, text);
  const texts = await textsOf(site, threadId);
  return texts.at(texts.lastIndexOf(text) + 2) ?? "";
}

/** Ended, though its parent may not have taken it off the list yet. */
function isGone(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}

const call = (tool: string, args: object): string => `${tool} ${JSON.stringify(args)}`;

describe("a task", () => {
  test("is a run on a thread of its own, begun at once; its end begins a run that tells of it", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(`wait ${file(site, "go")}`));
    const [task] = await tasksOf(site, "t1");
    const { taskId = "", runId = "" } = task ?? {};
    await until(async () => (await statusOf(site, taskId)) === "running");
    expect(await site.runs.get(OWNER, runId)).toMatchObject({ thread_id: taskId, status: "running" });
    expect(await toolWords(site, "t1", call("check_async_task", { task_id: taskId }))).toContain("running");
    expect(await newsIn(site, "t1")).toEqual([]);
    open(site, "go");
    await until(async () => (await newsIn(site, "t1")).length > 0);
    await quiet(site, "t1");
    expect(await newsIn(site, "t1")).toEqual([
      `[Background task ${taskId} ('helper') is done. \`check_async_task\` tells more.]`,
    ]);
    expect((await textsOf(site, "t1")).at(-1)).toBe("heard: 1");
    expect(await tasksOf(site, "t1")).toMatchObject([{ taskId, status: "success", reportedRunId: runId }]);
    const result = await toolWords(site, "t1", call("check_async_task", { task_id: taskId }));
    expect(result).toBe(`Task ${taskId} ('helper'): success\ndone: wait ${file(site, "go")}`);
    expect(site.errors).toEqual([]);
  });

  test("sixteen that end in one tick wake the supervisor, and each is told once", async () => {
    const site = await openTeam();
    const names = Array.from({ length: 16 }, (_, index) => `wait ${file(site, "go")} ${index}`);
    await tell(site, "t1", names.map((each) => startTask(each)).join("\n"));
    const tasks = await tasksOf(site, "t1");
    expect(tasks).toHaveLength(16);
    await until(async () =>
      (await Promise.all(tasks.map(({ taskId }) => statusOf(site, taskId)))).every((s) => s === "running"),
    );
    open(site, "go");
    await until(async () => (await newsIn(site, "t1")).length === 16);
    await quiet(site, "t1");
    const news = await newsIn(site, "t1");
    for (const { taskId } of tasks) expect(news.filter((text) => text.includes(taskId))).toHaveLength(1);
    expect((await tasksOf(site, "t1")).map(({ status }) => status)).toEqual(Array(16).fill("success"));
  });

  test("that ends before a run of the supervisor asks its model is told within that run", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(`wait ${file(site, "never")}`));
    const [task] = await tasksOf(site, "t1");
    await until(async () => (await statusOf(site, task?.taskId ?? "")) === "running");
    await site.close();
    const idle = await openTeam({ directory: site.directory, works: false });
    await begin(idle, "t1", { assistant_id: "boss", input: userSays("hi") });
    await endByHand(idle, task?.taskId ?? "");
    await idle.close();
    const other = await openTeam({ directory: site.directory });
    await quiet(other, "t1");
    expect((await textsOf(other, "t1")).at(-1)).toBe("heard: 2");
    expect(await other.runs.list(OWNER, "t1", PAGE)).toHaveLength(2);
  });

  test("goes on with a new instruction on the same thread, and is told once", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(`wait ${file(site, "never")}`));
    const [before] = await tasksOf(site, "t1");
    const { taskId = "", runId = "" } = before ?? {};
    await until(async () => (await statusOf(site, taskId)) === "running");
    const words = await toolWords(
      site,
      "t1",
      call("update_async_task", { task_id: taskId, message: "instead" }),
    );
    expect(words).toContain("goes on with the new instruction");
    await until(async () => (await newsIn(site, "t1")).length === 1);
    await quiet(site, "t1");
    const [after] = await tasksOf(site, "t1");
    expect(after).toMatchObject({ taskId, status: "success", updates: 1 });
    expect(after?.runId).not.toBe(runId);
    expect(await site.runs.get(OWNER, runId)).toMatchObject({ status: "interrupted" });
    const result = await toolWords(site, "t1", call("check_async_task", { task_id: taskId }));
    expect(result).toContain(`done: wait ${file(site, "never")}, instead`);
    expect(await newsIn(site, "t1")).toHaveLength(1);
  });

  test("that waits for a person says so, and tells of its end when it was answered", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask("ask"));
    const [task] = await tasksOf(site, "t1");
    const { taskId = "" } = task ?? {};
    await until(async () => (await newsIn(site, "t1")).length === 1);
    expect((await newsIn(site, "t1"))[0]).toContain("waits for a person's decision");
    await quiet(site, "t1");
    const answer = { command: { resume: { decisions: [{ type: "approve" }] } } };
    await begin(site, taskId, { assistant_id: "helper", ...answer });
    await until(async () => (await newsIn(site, "t1")).length === 2);
    expect((await newsIn(site, "t1"))[1]).toContain("is done");
    await quiet(site, "t1");
    expect(await tasksOf(site, "t1")).toMatchObject([{ status: "success" }]);
  });

  test("is over only when what it has started itself is over", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(startTask(`wait ${file(site, "go")}`), "middle"));
    const [task] = await tasksOf(site, "t1");
    const { taskId = "" } = task ?? {};
    await until(async () => (await statusOf(site, taskId)) === "success");
    const words = await toolWords(site, "t1", call("check_async_task", { task_id: taskId }));
    expect(words).toContain("running");
    expect(await newsIn(site, "t1")).toEqual([]);
    open(site, "go");
    await until(async () => (await newsIn(site, "t1")).length === 1);
    expect(await newsIn(site, taskId)).toHaveLength(1);
    await quiet(site, "t1");
    expect(await tasksOf(site, "t1")).toMatchObject([{ status: "success" }]);
  });
});

describe("PAINS 23: a task that does not come to its end tells what it had said", () => {
  const check = async (site: Site): Promise<string> => {
    const [task] = await tasksOf(site, "t1");
    await until(async () => (await newsIn(site, "t1")).length === 1);
    await quiet(site, "t1");
    return toolWords(site, "t1", call("check_async_task", { task_id: task?.taskId }));
  };

  const halfDone = (site: Site, task: AsyncTask | undefined) =>
    until(async () => {
      const agent = await site.registry.load("helper");
      const { values } = await agent.getState({ configurable: { thread_id: task?.taskId } });
      return values?.messages?.length === 2;
    });

  test("when it fails", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask("fail"));
    expect(await check(site)).toMatch(
      /: error\n.*the model is gone.*\nIts last words:\nhalf of it is done$/s,
    );
  });

  test("when it runs out of time", async () => {
    const site = await openTeam();
    const { directory } = site;
    await tell(site, "t1", startTask(`half ${file(site, "never")}`));
    const [task] = await tasksOf(site, "t1");
    await halfDone(site, task);
    await site.close();
    // Only the task has little time: a run of its supervisor is with somebody else meanwhile.
    const idle = await openTeam({ directory, works: false });
    await begin(idle, "t1", { assistant_id: "boss", input: userSays("hi") });
    const claim = await idle.records.runs.claimNext("t1", "elsewhere", 600_000);
    const hasty = await openTeam({ directory, runTimeout: 0.5 });
    await until(async () => (await statusOf(hasty, task?.taskId ?? "")) === "timeout");
    await hasty.close();
    await idle.records.runs.release(claim!);
    await idle.close();
    const other = await openTeam({ directory });
    expect(await check(other)).toMatch(
      /: timeout\nIt ran out of time\.\nIts last words:\nhalf of it is done$/,
    );
  });

  test("when a client stops it", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(`half ${file(site, "never")}`));
    const [task] = await tasksOf(site, "t1");
    await halfDone(site, task);
    await site.runs.cancel(OWNER, task?.runId ?? "");
    expect(await check(site)).toMatch(/: cancelled\nIt was stopped\.\nIts last words:\nhalf of it is done$/);
  });
});

describe("cancel", () => {
  test("reaches the run of the task and those of the tasks below it, and nobody is told", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(startTask(`wait ${file(site, "never")}`), "middle"));
    const [middle] = await tasksOf(site, "t1");
    const { taskId = "" } = middle ?? {};
    await until(async () => (await tasksOf(site, taskId)).length === 1);
    const [low] = await tasksOf(site, taskId);
    await until(async () => (await statusOf(site, low?.taskId ?? "")) === "running");
    const words = await toolWords(site, "t1", call("cancel_async_task", { task_id: taskId }));
    expect(words).toBe(`Task ${taskId} is cancelled.`);
    await until(async () => (await site.runs.get(OWNER, low?.runId ?? ""))?.status === "interrupted");
    await until(() => site.runs.active === 0);
    await new Promise((go) => setTimeout(go, 500));
    expect(await newsIn(site, "t1")).toEqual([]);
    expect(await newsIn(site, taskId)).toEqual([]);
    expect(await toolWords(site, "t1", call("check_async_task", { task_id: taskId }))).toContain("cancelled");
  });

  test("reaches the command a task is in", async () => {
    const site = await openTeam();
    const command = `echo $$ > ${file(site, "pid")}; exec sleep 600`;
    await tell(site, "t1", startTask(call("execute", { command }), "shell"));
    const [task] = await tasksOf(site, "t1");
    const pid = () => Number(existsSync(file(site, "pid")) && readFileSync(file(site, "pid"), "utf8"));
    await until(() => pid() > 0);
    expect(process.kill(pid(), 0)).toBe(true);
    await toolWords(site, "t1", call("cancel_async_task", { task_id: task?.taskId }));
    await until(() => isGone(pid()));
  });

  test("by a client, over the run itself, is told to the supervisor", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(`wait ${file(site, "never")}`));
    const [task] = await tasksOf(site, "t1");
    await site.runs.cancel(OWNER, task?.runId ?? "");
    await until(async () => (await newsIn(site, "t1")).length === 1);
    expect((await newsIn(site, "t1"))[0]).toContain("was cancelled");
  });

  test("follows when the thread of the supervisor is deleted", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(`wait ${file(site, "never")}`));
    const [task] = await tasksOf(site, "t1");
    await until(async () => (await statusOf(site, task?.taskId ?? "")) === "running");
    await site.records.threads.delete(OWNER, "t1");
    await until(async () => (await statusOf(site, task?.taskId ?? "")) === "interrupted");
  });
});

describe("safety", () => {
  test("the thread of a task belongs to the owner of the supervisor, and to nobody else", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask("quick"));
    const [task] = await tasksOf(site, "t1");
    const { taskId = "", runId = "" } = task ?? {};
    expect(await site.records.threads.get(OWNER, taskId)).toMatchObject({
      owner: OWNER,
      metadata: { graph_id: "helper", parent_thread_id: "t1", agent_name: "helper" },
    });
    for (const found of [
      await site.records.threads.get("eve", taskId),
      await site.runs.get("eve", runId),
      await site.records.tasks.get("eve", taskId),
    ])
      expect(found).toBeUndefined();
    expect(await site.records.tasks.cancel("eve", taskId)).toEqual([]);
  });

  test("a copy of the thread, or another thread, has no hold on the task", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(`wait ${file(site, "never")}`));
    const [task] = await tasksOf(site, "t1");
    await site.records.threads.put(OWNER, newThread(OWNER, "t2", {}), { ifExists: "raise" });
    await site.saver.copyThread("t1", "t2");
    const words = await toolWords(site, "t2", call("cancel_async_task", { task_id: task?.taskId }));
    expect(words).toContain("is not one of this conversation");
    expect(await statusOf(site, task?.taskId ?? "")).not.toBe("interrupted");
  });

  test("a run that was ended gives no tasks any more", async () => {
    const site = await openTeam({ role: "api" });
    const run = await begin(site, "t1", { assistant_id: "boss", input: userSays("hi") });
    const giver = await site.records.runs.claimNext("t1", "w", 600_000);
    await site.records.runs.requestCancel(OWNER, run.run_id, "interrupt");
    const order = {
      owner: OWNER,
      runId: "r2",
      threadId: "t2",
      assistantId: "helper",
      request: { assistant_id: "helper", input: null },
      strategy: "enqueue" as const,
    };
    expect(await site.records.tasks.begin({ giver: giver!, agentName: "helper", run: order })).toEqual({
      kind: "busy",
    });
    expect(await site.records.threads.get(OWNER, "t2")).toBeUndefined();
  });

  test("an agent that names a graph nobody has fails when it is made, and says which there are", async () => {
    const { boss } = backgroundAgents();
    const site = await openSite({ boss: boss as () => object, helper: () => ({}) });
    const run = await begin(site, "t1", { assistant_id: "boss", input: userSays("hi") });
    expect(await site.runs.wait(OWNER, run.run_id)).toMatchObject({
      __error__: { error: "INVALID_OPTION", message: expect.stringMatching(/'middle'.*Known are: .*helper/) },
    });
  });
});

describe("what was lost with a process", () => {
  test("the wake-up of a supervisor is made up for by any that lives", async () => {
    const site = await openTeam();
    await tell(site, "t1", startTask(`wait ${file(site, "go")}`));
    const [task] = await tasksOf(site, "t1");
    await until(async () => (await statusOf(site, task?.taskId ?? "")) === "running");
    await site.close();
    // A worker that ends the run of the task, and then is gone.
    const gone = await openTeam({ directory: site.directory, works: false });
    await endByHand(gone, task?.taskId ?? "");
    await gone.close();
    const other = await openTeam({ directory: site.directory });
    await until(async () => (await newsIn(other, "t1")).length === 1);
    await quiet(other, "t1");
    expect(await newsIn(other, "t1")).toHaveLength(1);
    const mailRuns = (await other.runs.list(OWNER, "t1", PAGE)).filter(({ metadata }) => metadata?.origin);
    expect(mailRuns).toHaveLength(1);
    expect((await eventsOf(other, mailRuns[0]?.run_id ?? "")).at(-1)?.event).toBe("end");
    expect(existsSync(file(other, "go"))).toBe(false);
  });
});
