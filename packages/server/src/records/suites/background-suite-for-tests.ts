/** Tasks that other servers do for threads, and the end of everything a thread has at work. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { RemoteTask } from "../contract/background-records.ts";
import type { RunClaim, ServerRecords } from "../records.ts";
import { claimed, newRun, newThread, started, TTL, thread } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

export function backgroundSuite({ records, again, edit }: RecordsSite): void {
  async function giver(): Promise<RunClaim> {
    const threadId = await newThread(records(), "a");
    await started(records(), "a", threadId);
    return claimed(records(), threadId);
  }

  const order = (by: RunClaim, taskId: string, runId: string = randomUUID()) => ({
    owner: "a",
    giver: by,
    taskId,
    runId,
    agentName: "far",
    graphId: "boss",
    lookInMs: 0,
  });
  async function followed(by: RunClaim): Promise<string> {
    const taskId = randomUUID();
    expect(await records().background.follow(order(by, taskId))).toBe(true);
    return taskId;
  }
  /** Due tasks of the thread; others are given back. */
  async function taken(by: RunClaim, home: ServerRecords = records(), leaseMs = TTL) {
    const all = await home.background.take(1_000, leaseMs);
    return all.filter(({ parentThreadId }) => parentThreadId === by.run.thread_id);
  }
  const mailOf = async ({ run }: RunClaim) =>
    (await records().mail.waiting(run.thread_id, ["task-end"])).map(({ message }) => message);
  const end = (claim: RunClaim) =>
    records().runs.finish(claim, { status: "success", threadStatus: "idle" }, []);

  describe("tasks elsewhere", () => {
    test("are one caller's for a while, then anyone's, and each is told once, whoever saw its end", async () => {
      const by = await giver();
      const ids = await Promise.all(Array.from({ length: 16 }, () => followed(by)));
      const other = await again();
      const both = await Promise.all([taken(by), taken(by, other)]);
      expect(
        both
          .flat()
          .map(({ taskId }) => taskId)
          .sort(),
      ).toEqual(ids.toSorted());
      for (const task of both.flat()) await records().background.again(task, { inMs: 0, failed: false });
      expect(await taken(by, other, 0)).toHaveLength(16);
      const tasks = await taken(by);
      expect(tasks).toHaveLength(16);
      const told = await Promise.all(
        tasks.flatMap((task) => [
          records().background.end(task, "success"),
          other.background.end(task, "success"),
        ]),
      );
      expect(told.filter(Boolean)).toHaveLength(16);
      const letters = (await mailOf(by)) as { taskId: string; status: string }[];
      expect(letters.map(({ taskId }) => taskId).sort()).toEqual(ids.toSorted());
      expect(await taken(by)).toEqual([]);
      await other.close();
    });

    test("are looked at again when they go on, and by nobody who lost them", async () => {
      const by = await giver();
      await followed(by);
      const [first] = await taken(by, records(), 0);
      const [second] = (await taken(by)) as [RemoteTask];
      expect([first?.looks, second.looks]).toEqual([1, 2]);
      await records().background.again(first!, { inMs: 0, failed: true });
      expect(await taken(by)).toEqual([]);
      await records().background.again(second, { inMs: 0, failed: true });
      const [third] = (await taken(by)) as [RemoteTask];
      expect(third).toMatchObject({ looks: 3, failures: 1 });
      await records().background.again(third, { inMs: 0, failed: false });
      expect(await taken(by)).toMatchObject([{ failures: 0, state: "open" }]);
    });

    test("given again by the same call are one; given anew, the end of the run before is no news", async () => {
      const by = await giver();
      const taskId = randomUUID();
      await records().background.follow(order(by, taskId, "r1"));
      const [first] = (await taken(by)) as [RemoteTask];
      await records().background.follow(order(by, taskId, "r1"));
      expect(await taken(by)).toEqual([]);
      await records().background.follow(order(by, taskId, "r2"));
      expect(await records().background.end(first, "success")).toBe(false);
      const [second] = (await taken(by)) as [RemoteTask];
      expect(await records().background.end(second, "error")).toBe(true);
      expect(await mailOf(by)).toMatchObject([{ taskId, runId: "r2", status: "error", agentName: "far" }]);
      await records().background.follow(order(by, taskId, "r2"));
      expect(await taken(by)).toEqual([]);
    });

    test("that wait for a person are told, and told again when they are over", async () => {
      const by = await giver();
      const taskId = await followed(by);
      const [task] = (await taken(by)) as [RemoteTask];
      expect(await records().background.end(task, "interrupted")).toBe(true);
      expect(await records().background.end(task, "interrupted")).toBe(false);
      expect(await records().background.end(task, "success")).toBe(true);
      expect(await mailOf(by)).toMatchObject([
        { taskId, status: "interrupted" },
        { taskId, status: "success" },
      ]);
    });

    test("are given by nobody who lost the thread or was ended, and forgotten for their owner alone", async () => {
      const by = await giver();
      const stale = { ...by, fence: by.fence - 1 };
      expect(await records().background.follow(order(stale, "t"))).toBe(false);
      const taskId = await followed(by);
      await records().background.forget("b", by.run.thread_id, taskId);
      expect(await taken(by, records(), 0)).toHaveLength(1);
      await records().background.forget("a", by.run.thread_id, taskId);
      expect(await taken(by)).toEqual([]);
      await records().runs.requestCancel("a", by.run.run_id, "interrupt");
      expect(await records().background.follow(order(by, "t"))).toBe(false);
    });

    test("keep the task open that they are done for, and are to be cancelled with it", async () => {
      const top = await giver();
      const threadId = randomUUID();
      await records().tasks.begin({
        giver: top,
        agentName: "middle",
        thread: thread("a", { thread_id: threadId }),
        run: newRun("a", threadId),
      });
      const middle = await claimed(records(), threadId);
      await followed(middle);
      await end(middle);
      expect(await records().background.openOn("a", threadId)).toBe(1);
      expect(await records().background.openOn("b", threadId)).toBe(0);
      expect(await mailOf(top)).toEqual([]);
      expect(await records().tasks.get("a", threadId)).toMatchObject({ state: "open" });
      await records().tasks.cancel("a", threadId);
      const [task] = (await taken(middle)) as [RemoteTask];
      expect(task).toMatchObject({ state: "cancel", failures: 0 });
      expect(await records().background.end(task, "success")).toBe(false);
      await records().background.stopped(task);
      expect(await taken(middle)).toEqual([]);
      expect(await mailOf(middle)).toEqual([]);
    });

    test("are looked at though the clock was set back since the last look", async () => {
      const by = await giver();
      await followed(by);
      const parent = by.run.thread_id;
      await edit(`UPDATE dw_srv_remote_tasks SET due = due + 3600000 WHERE parent = '${parent}'`);
      expect(await taken(by)).toHaveLength(1);
      expect(await taken(by)).toHaveLength(0);
    });

    test("are to be cancelled when the thread they are done for is deleted", async () => {
      const by = await giver();
      await followed(by);
      await records().threads.delete("a", by.run.thread_id);
      const [task] = (await taken(by, records(), 0)) as [RemoteTask];
      expect(task.state).toBe("cancel");
      await records().background.stopped(task);
      expect(await taken(by)).toEqual([]);
    });
  });

  describe("ends that another is to hear of", () => {
    const request = { assistant_id: "x", input: { callbackThreadId: "elsewhere" } } as never;
    const withCallback = async (threadId: string) => {
      const runId = randomUUID();
      await records().runs.start(newRun("a", threadId, { runId, request }));
      return runId;
    };
    const due = async (threadId: string, leaseMs = TTL) =>
      (await records().background.takeCompletions(1_000, leaseMs)).filter(
        (each) => each.threadId === threadId,
      );

    test("are kept with the end of the run, whatever that is, until they were told", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await withCallback(threadId);
      expect(await records().background.hasCompletion("a", threadId)).toBe(false);
      const claim = await claimed(records(), threadId);
      await records().runs.finish(claim, { status: "error", threadStatus: "error" }, []);
      expect(await records().background.hasCompletion("a", threadId)).toBe(true);
      const [first] = await due(threadId, 0);
      expect(first).toMatchObject({ runId, target: "elsewhere", status: "error", ends: 1, looks: 1 });
      const [second] = await due(threadId);
      await records().background.noteAttempt(first!, null);
      await records().background.noteAttempt(second!, 0);
      const [third] = await due(threadId);
      expect(third).toMatchObject({ looks: 3 });
      await records().background.noteAttempt(third!, null);
      expect(await due(threadId)).toEqual([]);
      await started(records(), "a", threadId);
      await end(await claimed(records(), threadId));
      expect(await due(threadId)).toEqual([]);
    });

    test("are told though the clock was set back since", async () => {
      const threadId = await newThread(records(), "a");
      await withCallback(threadId);
      await end(await claimed(records(), threadId));
      await edit(`UPDATE dw_srv_completions SET due = due + 3600000 WHERE thread_id = '${threadId}'`);
      expect(await due(threadId)).toHaveLength(1);
      expect(await due(threadId)).toHaveLength(0);
    });

    test("wait for all that is at work on the thread, and name the run that was to be told of", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await withCallback(threadId);
      const claim = await claimed(records(), threadId);
      await followed(claim);
      await end(claim);
      expect(await due(threadId)).toEqual([]);
      const [task] = await taken(claim);
      await records().background.end(task!, "success");
      const letters = await records().mail.waiting(threadId, ["task-end"]);
      await records().mail.settle(
        threadId,
        letters.map(({ id }) => id),
      );
      await started(records(), "a", threadId);
      await end(await claimed(records(), threadId));
      expect(await due(threadId)).toMatchObject([{ runId, status: "success" }]);
    });

    test("are there when everything on the thread is stopped", async () => {
      const [one, two] = [await newThread(records(), "a"), await newThread(records(), "a")];
      await withCallback(one);
      const claim = await claimed(records(), one);
      await followed(claim);
      await end(claim);
      await withCallback(two);
      await records().background.stop("a", one);
      await records().background.stop("a", two);
      expect(await due(one)).toMatchObject([{ status: "cancelled", runId: claim.run.run_id }]);
      await withCallback(one);
      await claimed(records(), one);
      await records().background.stop("a", one);
      expect(await due(one)).toEqual([]);
    });

    test("are there also of a run that never began, and of a thread that is gone", async () => {
      const [one, two] = [await newThread(records(), "a"), await newThread(records(), "a")];
      await records().runs.requestCancel("a", await withCallback(one), "interrupt");
      expect(await due(one)).toMatchObject([{ status: "cancelled" }]);
      await withCallback(two);
      const claim = await claimed(records(), two);
      await records().runs.finish(claim, { status: "interrupted", threadStatus: "interrupted" }, []);
      const [waits] = await due(two);
      expect(waits).toMatchObject({ status: "interrupted" });
      await records().background.noteAttempt(waits!, null);
      await records().threads.delete("a", two);
      const [gone] = await due(two);
      expect(gone).toMatchObject({ status: "cancelled", ends: 2 });
      await records().background.noteAttempt(gone!, null);
      expect(await records().background.hasCompletion("a", two)).toBe(false);
    });
  });

  describe("everything on a thread", () => {
    test("is ended at once, with the tasks below it, and who gave it as a task is told", async () => {
      const top = await giver();
      const threadId = randomUUID();
      await records().tasks.begin({
        giver: top,
        agentName: "middle",
        thread: thread("a", { thread_id: threadId }),
        run: newRun("a", threadId),
      });
      const middle = await claimed(records(), threadId);
      const low = randomUUID();
      await records().tasks.begin({
        giver: middle,
        agentName: "low",
        thread: thread("a", { thread_id: low }),
        run: newRun("a", low),
      });
      await end(middle);
      expect(await records().background.stop("b", threadId)).toEqual([]);
      const runs = await records().background.stop("a", threadId);
      expect(runs).toMatchObject([{ thread_id: low, status: "interrupted" }]);
      expect(await records().background.openOn("a", threadId)).toBe(0);
      expect(await mailOf(top)).toMatchObject([{ taskId: threadId, status: "cancelled" }]);
    });

    test("also all that was said to it and not read, by a client and by who gave it as a task", async () => {
      const by = await giver();
      const threadId = randomUUID();
      await records().tasks.begin({
        giver: by,
        agentName: "helper",
        thread: thread("a", { thread_id: threadId }),
        run: newRun("a", threadId),
      });
      for (const id of [threadId, by.run.thread_id])
        for (const kind of KINDS) await records().mail.post("a", id, { id: kind, kind, message: "hi" });
      await records().tasks.cancel("a", threadId);
      expect(await records().mail.waiting(threadId, KINDS)).toEqual([]);
      expect(await records().mail.waiting(by.run.thread_id, KINDS)).toHaveLength(4);
      await records().background.stop("a", by.run.thread_id);
      expect(await records().mail.waiting(by.run.thread_id, KINDS)).toEqual([]);
    });
  });

  describe("mail of a thread at rest", () => {
    const listed = async () => (await records().mail.unattended(1_000)).map(({ threadId }) => threadId);
    const post = (threadId: string, kind: (typeof KINDS)[number], id: string = kind) =>
      records().mail.post("a", threadId, { id, kind, message: "hi" });

    test.each([
      ["steer", false],
      ["follow-up", false],
      ["completion", true],
      ["task-end", true],
    ] as const)("after a failure, and of the kind %s, is to be attended to: %s", async (kind, isFound) => {
      const by = await giver();
      await post(by.run.thread_id, kind);
      await records().runs.finish(by, { status: "error", threadStatus: "error" }, []);
      expect((await listed()).includes(by.run.thread_id)).toBe(isFound);
      await records().mail.settle(by.run.thread_id, [kind]);
    });

    test("tells of an end after a failure until a run was begun since it came, however that went", async () => {
      const by = await giver();
      const { thread_id: threadId } = by.run;
      await records().runs.finish(by, { status: "error", threadStatus: "error" }, []);
      await post(threadId, "task-end");
      expect(await listed()).toContain(threadId);
      await started(records(), "a", threadId);
      const claim = await claimed(records(), threadId);
      await records().runs.finish(claim, { status: "error", threadStatus: "error" }, []);
      expect(await listed()).not.toContain(threadId);
      await post(threadId, "task-end", "another");
      expect(await listed()).toContain(threadId);
      await records().mail.settle(threadId, ["task-end", "another"]);
    });

    test("whose last run was cancelled begins none, unless something has ended in the background", async () => {
      const by = await giver();
      const { thread_id: threadId, run_id: runId } = by.run;
      await post(threadId, "steer");
      await records().runs.requestCancel("a", runId, "interrupt");
      await records().runs.finish(by, { status: "interrupted", threadStatus: "idle", task: "cancelled" }, []);
      expect(await listed()).not.toContain(threadId);
      await post(threadId, "completion");
      expect(await listed()).toContain(threadId);
      await records().mail.settle(threadId, ["completion"]);
      await started(records(), "a", threadId);
      await end(await claimed(records(), threadId));
      expect(await listed()).toContain(threadId);
      await records().mail.settle(threadId, ["steer"]);
    });

    test("of which there is more than is asked for: any of it comes, those without a run last", async () => {
      const without = await newThread(records(), "a");
      await post(without, "steer");
      const ids: string[] = [];
      for (let n = 0; n < 12; n += 1) {
        const by = await giver();
        await post(by.run.thread_id, "steer");
        await end(by);
        ids.push(by.run.thread_id);
      }
      const seen = new Set<string>();
      const areSeen = () => ids.every((id) => seen.has(id));
      for (let n = 0; n < 200 && !areSeen(); n += 1)
        for (const { threadId } of await records().mail.unattended(3)) seen.add(threadId);
      expect(areSeen()).toBe(true);
      expect(seen.has(without)).toBe(false);
      for (const threadId of [without, ...ids]) await records().mail.settle(threadId, ["steer"]);
    });
  });
}

const KINDS = ["steer", "follow-up", "completion", "task-end"] as const;
