/** Tasks that one thread does for another, and what is told to addresses of clients. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { mailKey, type RunClaim, type ServerRecords } from "../records.ts";
import { claimed, newRun, newThread, started, TTL, thread } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

export function tasksSuite({ records, again, edit }: RecordsSite): void {
  /** A thread with a run at work. */
  async function giver(): Promise<RunClaim> {
    const threadId = await newThread(records(), "a");
    await started(records(), "a", threadId);
    return claimed(records(), threadId);
  }

  async function given(by: RunClaim, runId = randomUUID()): Promise<string> {
    const threadId = randomUUID();
    const begun = await records().tasks.begin({
      giver: by,
      agentName: "helper",
      thread: thread("a", { thread_id: threadId }),
      run: newRun("a", threadId, { runId }),
    });
    expect(begun).toMatchObject({ kind: "created", run: { run_id: runId, thread_id: threadId } });
    return threadId;
  }

  const end = (home: ServerRecords, claim: RunClaim, task?: "error" | "interrupted") =>
    home.runs.finish(claim, { status: task ?? "success", threadStatus: "idle", ...(task && { task }) }, []);
  const mailOf = async ({ run }: RunClaim) =>
    (await records().mail.waiting(run.thread_id, ["task-end"])).map(({ message }) => message);

  describe("tasks", () => {
    test("of which many end at once, in several processes, are each told once and with their end", async () => {
      const by = await giver();
      const ids = await Promise.all(Array.from({ length: 16 }, () => given(by)));
      const other = await again();
      const claims = await Promise.all(ids.map((id) => claimed(records(), id)));
      expect(claims.every(({ isTask }) => isTask)).toBe(true);
      const ended = await Promise.all(claims.flatMap((claim) => [end(records(), claim), end(other, claim)]));
      expect(ended.filter(Boolean)).toHaveLength(16);
      const letters = (await mailOf(by)) as { taskId: string; status: string }[];
      expect(letters.map(({ taskId }) => taskId).sort()).toEqual(ids.toSorted());
      for (const id of ids)
        expect(await records().tasks.get("a", id)).toMatchObject({ state: "over", status: "success" });
      await other.close();
    });

    test("go on while there is a run, mail or a task below, and end with the last of them", async () => {
      const by = await giver();
      const threadId = await given(by);
      const first = await claimed(records(), threadId);
      const below = await given(first);
      const second = await started(records(), "a", threadId);
      await end(records(), first);
      expect(await mailOf(by)).toEqual([]);
      await records().mail.post("a", threadId, { id: "m", kind: "steer", message: "hi" });
      await end(records(), await claimed(records(), threadId));
      await end(records(), await claimed(records(), below));
      expect(await mailOf(by)).toEqual([]);
      await records().mail.settle(threadId, ["m", ...(await waitingIds(threadId))]);
      await started(records(), "a", threadId);
      await end(records(), await claimed(records(), threadId));
      expect(await mailOf(by)).toMatchObject([{ taskId: threadId, status: "success" }]);
      expect(await records().runs.get("a", second)).toMatchObject({ status: "success" });
    });

    const waitingIds = async (threadId: string) =>
      (await records().mail.waiting(threadId, ["task-end"])).map(({ id }) => id);

    test("that wait for a person are told, and told again when they are over", async () => {
      const by = await giver();
      const threadId = await given(by);
      await end(records(), await claimed(records(), threadId), "interrupted");
      expect(await records().tasks.get("a", threadId)).toMatchObject({ state: "waits" });
      await started(records(), "a", threadId);
      await end(records(), await claimed(records(), threadId), "error");
      expect(await mailOf(by)).toMatchObject([{ status: "interrupted" }, { status: "error" }]);
      await started(records(), "a", threadId);
      await end(records(), await claimed(records(), threadId));
      expect(await mailOf(by)).toHaveLength(2);
    });

    test("are given once by the same call, and goes on with another run by the next", async () => {
      const by = await giver();
      const threadId = randomUUID();
      const order = (more: object) => ({
        giver: by,
        agentName: "helper",
        thread: thread("a", { thread_id: threadId }),
        run: newRun("a", threadId, { idempotencyKey: `k-${threadId}`, requestHash: "", ...more }),
      });
      const one = await records().tasks.begin(order({}));
      const two = await records().tasks.begin(order({}));
      expect([one.kind, two.kind]).toEqual(["created", "known"]);
      const claim = await claimed(records(), threadId);
      const { thread: _, ...update } = order({ idempotencyKey: `u-${threadId}`, strategy: "interrupt" });
      const next = await records().tasks.begin(update);
      expect(next).toMatchObject({ kind: "created", displaced: [{ run_id: claim.run.run_id }] });
      await end(records(), claim, "interrupted");
      expect(await mailOf(by)).toEqual([]);
    });

    test("are given by nobody who lost the thread, and not on threads of others", async () => {
      const by = await giver();
      const run = newRun("a", randomUUID());
      const order = { agentName: "helper", thread: thread("a", { thread_id: run.threadId }), run };
      const stale = { ...by, fence: by.fence - 1 };
      expect(await records().tasks.begin({ ...order, giver: stale })).toEqual({ kind: "busy" });
      const foreign = await newThread(records(), "b");
      expect(
        await records().tasks.begin({
          giver: by,
          agentName: "helper",
          thread: thread("a", { thread_id: foreign }),
          run: newRun("a", foreign),
        }),
      ).toEqual({ kind: "no-thread" });
      const own = await newThread(records(), "a");
      expect(await records().tasks.begin({ giver: by, agentName: "helper", run: newRun("a", own) })).toEqual({
        kind: "no-thread",
      });
    });

    test("are cancelled with all below them while these end, and nothing is begun or told by it", async () => {
      const by = await giver();
      const top = await given(by);
      const middle = await claimed(records(), top);
      const below = await Promise.all(Array.from({ length: 8 }, () => given(middle)));
      const claims = await Promise.all(below.slice(0, 4).map((id) => claimed(records(), id)));
      const other = await again();
      await Promise.all([records().tasks.cancel("a", top), ...claims.map((claim) => end(other, claim))]);
      for (const id of [top, ...below]) {
        expect((await records().tasks.get("a", id))?.state).toBe("over");
        const [run] = await records().runs.list("a", id, { limit: 1, offset: 0 });
        expect(run?.status !== "pending" && (run?.status !== "running" || run.cancel)).toBeTruthy();
      }
      expect(await mailOf(by)).toEqual([]);
      expect(await mailOf(middle)).toEqual([]);
      await other.close();
    });

    test("are told of when their thread is deleted, and end with the thread they are done for", async () => {
      const by = await giver();
      const [one, two] = [await given(by), await given(by)];
      await records().threads.delete("a", one);
      expect(await mailOf(by)).toMatchObject([{ taskId: one, status: "cancelled" }]);
      await records().threads.delete("a", by.run.thread_id);
      const [run] = await records().runs.list("a", two, { limit: 1, offset: 0 });
      expect(run).toMatchObject({ status: "interrupted" });
      expect(await records().tasks.get("a", two)).toBeUndefined();
    });
  });

  describe("mail nobody attends to", () => {
    test("is found on threads at rest, until a run was begun for its newest letter", async () => {
      const threadId = await newThread(records(), "a");
      const isFound = async () =>
        (await records().mail.unattended(1_000)).some((each) => each.threadId === threadId);
      expect(await isFound()).toBe(false);
      await records().mail.post("a", threadId, { id: "one", kind: "steer", message: 1 });
      expect(await isFound()).toBe(true);
      await started(records(), "a", threadId, {
        idempotencyKey: mailKey(threadId, "one"),
        requestHash: "",
      });
      await end(records(), await claimed(records(), threadId));
      expect(await isFound()).toBe(false);
      await records().mail.post("a", threadId, { id: "two", kind: "steer", message: 1 });
      expect(await isFound()).toBe(true);
      await started(records(), "a", threadId);
      expect(await isFound()).toBe(false);
    });
  });

  describe("addresses of clients", () => {
    test("are one caller's for a while, then anyone's, and what came of them is known", async () => {
      const claim = await giver();
      const runId = claim.run.run_id;
      const webhook = { url: "https://example.com/", body: '{"a":1}' };
      await records().runs.finish(claim, { status: "success", threadStatus: "idle", webhook }, []);
      const other = await again();
      const mine = async (leaseMs: number) =>
        (await Promise.all([records(), other, records()].map((home) => home.hooks.take(100, leaseMs))))
          .flat()
          .filter((hook) => hook.runId === runId);
      const [first, ...others] = await mine(TTL);
      expect([first, ...others]).toMatchObject([{ id: runId, body: '{"a":1}', attempts: 1 }]);
      expect(await mine(TTL)).toEqual([]);
      await records().hooks.note(first!, { status: "waiting", answer: null, againInMs: 0 });
      expect(await records().hooks.take(100, 0)).toContainEqual(
        expect.objectContaining({ runId, attempts: 2 }),
      );
      // The time of that call was over at once.
      await new Promise((go) => setTimeout(go, 5));
      const [second, ...rest] = await mine(TTL);
      expect([second?.attempts, rest.length]).toEqual([3, 0]);
      const stale = { ...second!, attempts: 2 };
      const failed = { status: "failed", answer: 500, againInMs: null } as const;
      await records().hooks.note(stale, failed);
      expect(await records().hooks.get("a", runId)).toMatchObject({ status: "waiting", attempts: 3 });
      await records().hooks.note(second!, { status: "waiting", answer: null, againInMs: 0 });
      const [third] = await mine(TTL);
      await records().hooks.note(third!, failed);
      expect(await mine(0)).toEqual([]);
      expect(await records().hooks.get("a", runId)).toMatchObject({ status: "failed", answer: 500 });
      expect(await records().hooks.get("b", runId)).toBeUndefined();
      await other.close();
    });

    test("are called at once though the clock was set back since the run ended", async () => {
      const claim = await giver();
      const runId = claim.run.run_id;
      const webhook = { url: "https://example.com/", body: "{}" };
      await records().runs.finish(claim, { status: "success", threadStatus: "idle", webhook }, []);
      await edit(`UPDATE dw_srv_hooks SET due = due + 3600000 WHERE run_id = '${runId}'`);
      const taken = (await records().hooks.take(100, TTL)).filter((hook) => hook.runId === runId);
      expect(taken).toMatchObject([{ attempts: 1 }]);
    });

    test("of those who have had their share are passed over", async () => {
      const ends: string[] = [];
      for (const url of ["https://one.example/", "https://two.example/"]) {
        const claim = await giver();
        ends.push(claim.run.run_id);
        const webhook = { url, body: "{}" };
        await records().runs.finish(claim, { status: "success", threadStatus: "idle", webhook }, []);
      }
      const take = async (owners: string[], urls: string[]) =>
        (await records().hooks.take(100, 0, { owners, urls }))
          .filter(({ runId }) => ends.includes(runId))
          .map(({ owner, url }) => [owner, url]);
      expect(await take(["a", "b"], [])).toEqual([]);
      expect(await take(["b"], ["https://one.example/"])).toEqual([["a", "https://two.example/"]]);
      expect(await take([], [])).toHaveLength(2);
    });
  });
}
