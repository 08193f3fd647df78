/** Claims on runs. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { claimed, finished, newThread, said, started, TTL } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

export function claimsSuite({ records, again, edit }: RecordsSite): void {
  describe("a claim", () => {
    test("is given to one of many workers", async () => {
      const threadId = await newThread(records(), "a");
      await started(records(), "a", threadId);
      const other = await again();
      const claims = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? records() : other).runs.claimNext(threadId, `worker ${index}`, TTL),
        ),
      );
      expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
      await other.close();
    });

    test("that was not kept goes to another worker, and the first may write nothing more", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await started(records(), "a", threadId);
      const first = await claimed(records(), threadId, "first", 20);
      expect(await records().events.append(first, [said("one"), said("two")])).toBe(2);
      await sleep(30);
      expect(await records().runs.threadsToWakeUp(1000)).toContain(threadId);
      const second = await claimed(records(), threadId, "second");
      expect(second.run).toMatchObject({ run_id: runId, attempts: 2 });
      expect(second.fence).toBeGreaterThan(first.fence);
      expect(await records().events.append(first, [said("late")])).toBeUndefined();
      expect(await records().runs.keepClaim(first, TTL)).toBeUndefined();
      await records().runs.release(first);
      const end = { status: "error", threadStatus: "error" } as const;
      expect(await records().runs.finish(first, end, [said("late")])).toBe(false);
      expect(await records().events.append(second, [said("three")])).toBe(3);
      expect(await finished(records(), second)).toBe(true);
      expect(await records().runs.get("a", runId)).toMatchObject({ status: "success" });
      expect((await records().events.read(runId, 0, 10)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    });

    test("that ran out lives again if nobody took it", async () => {
      const threadId = await newThread(records(), "a");
      await started(records(), "a", threadId);
      const claim = await claimed(records(), threadId, "worker", 1);
      await sleep(10);
      expect(await records().runs.keepClaim(claim, TTL)).toMatchObject({ status: "running" });
      expect(await records().runs.claimNext(threadId, "other", TTL)).toBeUndefined();
    });

    test("that ends later than it can, because the clock was set back, goes to another worker", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await started(records(), "a", threadId);
      const first = await claimed(records(), threadId, "first");
      expect(await records().runs.claimNext(threadId, "second", TTL)).toBeUndefined();
      await edit(`UPDATE dw_srv_runs SET claim_expires = claim_expires + 3600000 WHERE run_id = '${runId}'`);
      expect(await records().runs.requestCancel("a", runId, "interrupt")).toMatchObject({
        status: "running",
      });
      expect(await records().runs.threadsToWakeUp(1000)).toContain(threadId);
      const second = await claimed(records(), threadId, "second");
      expect(second.run).toMatchObject({ run_id: runId, attempts: 2, cancel: "interrupt" });
      expect(await records().runs.keepClaim(first, TTL)).toBeUndefined();
    });

    test("given back leaves the run in its place, and the attempt does not count", async () => {
      const threadId = await newThread(records(), "a");
      const first = await started(records(), "a", threadId);
      await started(records(), "a", threadId);
      await records().runs.release(await claimed(records(), threadId));
      expect(await records().runs.get("a", first)).toMatchObject({ status: "pending", attempts: 0 });
      expect(await claimed(records(), threadId)).toMatchObject({ run: { run_id: first, attempts: 1 } });
    });

    test("R-41 counts how often a run was begun, so that a poisoned one can be given up", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await started(records(), "a", threadId);
      for (let attempt = 1; attempt < 5; attempt += 1) {
        expect(await claimed(records(), threadId, `worker ${attempt}`, 0)).toMatchObject({
          run: { attempts: attempt },
        });
        await sleep(2);
      }
      const last = await claimed(records(), threadId);
      expect(last.run.attempts).toBe(5);
      const error = { error: "RUN_GIVEN_UP", message: "Begun 5 times without an end." };
      await records().runs.finish(last, { status: "error", error, threadStatus: "error" }, [said("end")]);
      expect(await records().runs.get("a", runId)).toMatchObject({ status: "error", error });
      expect(await records().threads.get("a", threadId)).toMatchObject({ status: "error", error });
      expect(await records().runs.threadsToWakeUp(1000)).not.toContain(threadId);
    });
  });

  describe("a run that is begun again and again", () => {
    const again = async (threadId: string, head: string, first = "c1") => {
      const claim = await claimed(records(), threadId, "worker", 0);
      const stalled = await records().runs.noteStall(claim, first, head);
      await sleep(2);
      return [claim.run.attempts, claim.stalled, stalled];
    };

    test("R-41 has its attempts counted from where it last got further", async () => {
      const threadId = await newThread(records(), "a");
      await started(records(), "a", threadId);
      expect(await claimed(records(), threadId, "worker", 0)).toMatchObject({ stalled: 1 });
      await sleep(2);
      expect(await again(threadId, "c1")).toEqual([2, 2, 2]);
      expect(await again(threadId, "c2")).toEqual([3, 3, 1]);
      expect(await again(threadId, "c2")).toEqual([4, 2, 2]);
      expect(await again(threadId, "c2")).toEqual([5, 3, 3]);
      expect(await again(threadId, "c3")).toEqual([6, 4, 1]);
    });

    test("is not noted about by a worker that lost it", async () => {
      const threadId = await newThread(records(), "a");
      await started(records(), "a", threadId);
      const lost = await claimed(records(), threadId, "worker", 0);
      await sleep(2);
      await claimed(records(), threadId, "other", 0);
      expect(await records().runs.noteStall(lost, undefined, "c2")).toBeUndefined();
    });
  });

  describe("the end of a run", () => {
    test("comes once, with its last events and what the thread shows", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await started(records(), "a", threadId);
      const claim = await claimed(records(), threadId);
      await records().events.append(claim, [said("one")]);
      const values = { messages: ["hi"] };
      const interrupts = { task: [{ id: "i", value: "?" }] };
      const end = { status: "interrupted", threadStatus: "interrupted", values, interrupts } as const;
      const results = await Promise.all(
        [1, 2, 3].map(() => records().runs.finish(claim, end, [said("end")])),
      );
      expect(results.filter(Boolean)).toHaveLength(1);
      expect(await records().events.read(runId, 0, 10)).toHaveLength(2);
      expect(await records().threads.get("a", threadId)).toMatchObject({
        status: "interrupted",
        values,
        interrupts,
      });
      expect(await records().events.append(claim, [said("late")])).toBeUndefined();
    });

    test("leaves the thread busy while another run of it waits", async () => {
      const threadId = await newThread(records(), "a");
      await started(records(), "a", threadId);
      await started(records(), "a", threadId);
      await finished(records(), await claimed(records(), threadId));
      expect(await records().threads.get("a", threadId)).toMatchObject({ status: "busy" });
      expect(await records().runs.threadsToWakeUp(1000)).toContain(threadId);
      await finished(records(), await claimed(records(), threadId));
      expect(await records().threads.get("a", threadId)).toMatchObject({ status: "idle" });
      expect(await records().runs.threadsToWakeUp(1000)).not.toContain(threadId);
    });

    test("of a thread that was deleted meanwhile is refused", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await started(records(), "a", threadId);
      const claim = await claimed(records(), threadId);
      await records().events.append(claim, [said("one")]);
      expect(await records().threads.delete("a", threadId)).toBe(true);
      expect(await records().events.append(claim, [said("late")])).toBeUndefined();
      expect(await records().runs.keepClaim(claim, TTL)).toBeUndefined();
      expect(await finished(records(), claim)).toBe(false);
      expect(await records().events.read(runId, 0, 10)).toEqual([]);
    });
  });
}
