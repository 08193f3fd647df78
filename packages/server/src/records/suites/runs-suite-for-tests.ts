/** How runs begin: keys, strategies, order. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../../../../scripts/test-time.ts";
import { claimed, finished, newRun, newThread, said, started, TTL } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

const A_DAY = 24 * 3_600_000;

export function runsSuite({ records }: RecordsSite): void {
  afterEach(() => {
    vi.useRealTimers();
  });

  test("the runs of a thread are found one behind the other, those of others are not", async () => {
    const threadId = await newThread(records(), "a");
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push(await started(records(), "a", threadId));
    await finished(records(), await claimed(records(), threadId));
    const { next } = records().runs;
    expect(await next("a", threadId, 0)).toMatchObject({ run_id: ids[0], sequence: 1 });
    expect(await next("a", threadId, 1)).toMatchObject({ run_id: ids[1] });
    expect(await next("a", threadId, 3)).toBeUndefined();
    expect(await next("a", threadId, 0, { open: true })).toMatchObject({ run_id: ids[1] });
    expect(await next("b", threadId, 0)).toBeUndefined();
  });

  test("the runs of an owner that have not ended are found on all threads, also those that may not begin yet", async () => {
    const owner = randomUUID();
    const [one, two] = [await newThread(records(), owner), await newThread(records(), owner)];
    await started(records(), owner, one);
    await finished(records(), await claimed(records(), one));
    const late = await started(records(), owner, one, { notBefore: Date.now() + A_DAY });
    const ready = await started(records(), owner, two);
    const open = async (more: object = {}) =>
      (await records().runs.open(owner, { limit: 10, offset: 0, ...more })).map(({ run_id }) => run_id);
    expect(await open()).toEqual([late, ready]);
    expect(await open({ offset: 1 })).toEqual([ready]);
    await claimed(records(), two);
    expect(await open({ status: "pending" })).toEqual([late]);
    expect(await open({ status: "running" })).toEqual([ready]);
    expect(await records().runs.open(randomUUID(), { limit: 10, offset: 0 })).toEqual([]);
  });

  describe("a key", () => {
    test("answers a repeated request with the first run, also after that has ended", async () => {
      const threadId = await newThread(records(), "a");
      const request = newRun("a", threadId, { idempotencyKey: randomUUID(), requestHash: "h" });
      await records().runs.start(request);
      const again = () => records().runs.start({ ...request, runId: randomUUID() });
      expect(await again()).toMatchObject({
        kind: "known",
        run: { run_id: request.runId, status: "pending" },
      });
      await finished(records(), await claimed(records(), threadId));
      expect(await again()).toMatchObject({
        kind: "known",
        run: { run_id: request.runId, status: "success" },
      });
      expect(await records().runs.list("a", threadId, { limit: 10, offset: 0 })).toHaveLength(1);
    });

    test("is remembered when its run and its thread are gone, and forgotten after a day", async () => {
      const threadId = await newThread(records(), "a");
      const request = newRun("a", threadId, { idempotencyKey: randomUUID(), requestHash: "h" });
      await records().runs.start(request);
      await finished(records(), await claimed(records(), threadId));
      await records().threads.delete("a", threadId);
      const again = () => records().runs.start({ ...request, runId: randomUUID() });
      expect(await again()).toMatchObject({
        kind: "known",
        run: { run_id: request.runId, status: "success" },
      });
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + A_DAY - 600_000 });
      expect(await again()).toMatchObject({ kind: "known" });
      vi.setSystemTime(Date.now() + 1_200_000);
      expect(await again()).toEqual({ kind: "no-thread" });
    });

    test("is looked up without beginning anything", async () => {
      const threadId = await newThread(records(), "a");
      const key = { owner: "a", idempotencyKey: randomUUID(), requestHash: "h" };
      expect(await records().runs.keyed(key)).toBeUndefined();
      const runId = await started(records(), "a", threadId, key);
      expect(await records().runs.keyed(key)).toMatchObject({ kind: "known", run: { run_id: runId } });
      expect(await records().runs.keyed({ ...key, requestHash: "other" })).toEqual({ kind: "key-reused" });
      expect(await records().runs.keyed({ ...key, owner: "b" })).toBeUndefined();
    });

    test("goes with a run that is withdrawn, which only one that waits can be", async () => {
      const threadId = await newThread(records(), "a");
      const key = { idempotencyKey: randomUUID(), requestHash: "h" };
      const runId = await started(records(), "a", threadId, key);
      expect(await records().runs.withdraw("b", runId)).toBe(false);
      expect(await records().runs.withdraw("a", runId)).toBe(true);
      expect(await records().runs.get("a", runId)).toBeUndefined();
      expect(await records().runs.withdraw("a", runId)).toBe(false);
      const again = await started(records(), "a", threadId, key);
      await claimed(records(), threadId);
      expect(await records().runs.withdraw("a", again)).toBe(false);
      expect(await records().runs.get("a", again)).toMatchObject({ status: "running" });
    });

    test("with other words is refused; that of another owner is another key", async () => {
      const idempotencyKey = randomUUID();
      const mine = await newThread(records(), "a");
      const theirs = await newThread(records(), "b");
      await started(records(), "a", mine, { idempotencyKey, requestHash: "h" });
      const other = newRun("a", mine, { idempotencyKey, requestHash: "other" });
      expect(await records().runs.start(other)).toEqual({ kind: "key-reused" });
      const foreign = newRun("b", theirs, { idempotencyKey, requestHash: "other" });
      expect(await records().runs.start(foreign)).toMatchObject({ kind: "created" });
    });

    test("sent many times at once makes one run, also on several threads", async () => {
      const threads = await Promise.all([1, 2, 3].map(() => newThread(records(), "a")));
      const idempotencyKey = randomUUID();
      const results = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          records().runs.start(
            newRun("a", threads[index % 3] as string, { idempotencyKey, requestHash: "h" }),
          ),
        ),
      );
      expect(results.filter(({ kind }) => kind === "created")).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === "known")).toHaveLength(11);
    });

    test("of a request that was refused is not used up", async () => {
      const threadId = await newThread(records(), "a");
      const first = await started(records(), "a", threadId);
      const request = newRun("a", threadId, { strategy: "reject", idempotencyKey: randomUUID() });
      expect(await records().runs.start(request)).toEqual({ kind: "busy" });
      await records().runs.requestCancel("a", first, "interrupt");
      expect(await records().runs.start(request)).toMatchObject({ kind: "created" });
    });
  });

  describe("a run that meets another", () => {
    test("is refused by `reject`, of many at once all but one", async () => {
      const threadId = await newThread(records(), "a");
      const results = await Promise.all(
        Array.from({ length: 8 }, () => records().runs.start(newRun("a", threadId, { strategy: "reject" }))),
      );
      expect(results.filter(({ kind }) => kind === "created")).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === "busy")).toHaveLength(7);
    });

    test("waits by `enqueue`", async () => {
      const threadId = await newThread(records(), "a");
      const first = await started(records(), "a", threadId);
      const second = await records().runs.start(newRun("a", threadId));
      expect(second).toMatchObject({
        kind: "created",
        displaced: [],
        run: { sequence: 2, status: "pending" },
      });
      const claim = await claimed(records(), threadId);
      expect(claim.run.run_id).toBe(first);
      expect(await records().runs.claimNext(threadId, "other", TTL)).toBeUndefined();
    });

    test.each(["interrupt", "rollback"] as const)(
      "by `%s` ends those that wait and tells the one at work",
      async (strategy) => {
        const threadId = await newThread(records(), "a");
        const atWork = await started(records(), "a", threadId);
        const claim = await claimed(records(), threadId);
        const waiting = await started(records(), "a", threadId);
        const later = await started(records(), "a", threadId, { notBefore: Date.now() + A_DAY });
        const endOfDisplaced = [said("displaced")];
        const result = await records().runs.start(newRun("a", threadId, { strategy, endOfDisplaced }));
        expect(result).toMatchObject({
          kind: "created",
          displaced: [
            { run_id: atWork, status: "running", cancel: strategy },
            { run_id: waiting, status: "interrupted", cancel: strategy },
          ],
        });
        expect(await records().events.read(waiting, 0, 10)).toMatchObject([
          { sequence: 1, ...said("displaced") },
        ]);
        expect(await records().runs.keepClaim(claim, TTL)).toMatchObject({ cancel: strategy });
        await finished(records(), claim);
        const next = await claimed(records(), threadId);
        expect(result).toMatchObject({ run: { run_id: next.run.run_id } });
        expect(await records().runs.get("a", later)).toMatchObject({ status: "pending" });
      },
    );

    test("that begins later is in nobody's way, and begins when it may", async () => {
      const threadId = await newThread(records(), "a");
      const later = await started(records(), "a", threadId, { notBefore: Date.now() + A_DAY });
      expect(await records().threads.get("a", threadId)).toMatchObject({ status: "idle" });
      expect(await records().runs.claimNext(threadId, "worker", TTL)).toBeUndefined();
      expect(await records().runs.threadsToWakeUp(1000)).not.toContain(threadId);
      const now = await started(records(), "a", threadId, { strategy: "reject" });
      const claim = await claimed(records(), threadId);
      expect(claim.run.run_id).toBe(now);
      await finished(records(), claim);
      const soon = await started(records(), "a", threadId, { notBefore: Date.now() + 200 });
      await eventually(async () => {
        expect(await records().runs.threadsToWakeUp(1000)).toContain(threadId);
      });
      expect((await claimed(records(), threadId)).run.run_id).toBe(soon);
      expect(await records().runs.get("a", later)).toMatchObject({ status: "pending" });
    });
  });

  test("R-35 runs follow each other by their number while the clock jumps by a day to and fro", async () => {
    const threadId = await newThread(records(), "a");
    const real = Date.now();
    const expected: string[] = [];
    for (const days of [0, 1, -1, 0, -1, 1, 0, 0]) {
      vi.useFakeTimers({ toFake: ["Date"], now: real + days * A_DAY });
      expected.push(await started(records(), "a", threadId));
    }
    const order: string[] = [];
    for (const days of [-1, 1, 0, 1, -1, 0, 0, 1]) {
      vi.setSystemTime(real + days * A_DAY);
      const claim = await claimed(records(), threadId);
      order.push(claim.run.run_id);
      expect(await records().runs.claimNext(threadId, "other", TTL)).toBeUndefined();
      expect(await records().runs.keepClaim(claim, TTL)).toBeDefined();
      expect(await finished(records(), claim)).toBe(true);
    }
    expect(order).toEqual(expected);
    const listed = await records().runs.list("a", threadId, { limit: 10, offset: 0 });
    expect(listed.map((run) => run.run_id)).toEqual(expected.toReversed());
  });

  describe("a request to cancel", () => {
    test("ends a run that waits, at once and with its last events", async () => {
      const threadId = await newThread(records(), "a");
      await started(records(), "a", threadId);
      const claim = await claimed(records(), threadId);
      const waiting = await started(records(), "a", threadId);
      const ended = await records().runs.requestCancel("a", waiting, "interrupt", [said("end")]);
      expect(ended).toMatchObject({ status: "interrupted", cancel: "interrupt" });
      expect(await records().events.read(waiting, 0, 10)).toHaveLength(1);
      await sleep(5);
      expect(await records().runs.requestCancel("a", waiting, "interrupt")).toBeUndefined();
      await finished(records(), claim);
      expect(await records().threads.get("a", threadId)).toMatchObject({ status: "idle" });
    });

    test("reaches the worker of a run, and the one that takes it over", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await started(records(), "a", threadId);
      const claim = await claimed(records(), threadId, "worker", 1);
      expect(await records().runs.requestCancel("a", runId, "rollback")).toMatchObject({ status: "running" });
      expect(await records().runs.keepClaim(claim, 1)).toMatchObject({ cancel: "rollback" });
      await eventually(async () => {
        expect(await claimed(records(), threadId)).toMatchObject({
          run: { cancel: "rollback", attempts: 2 },
        });
      });
    });
  });
}
