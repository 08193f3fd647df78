/** Runs that a worker has begun and given back: they wait, and yet have done something. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../../../scripts/test-time.ts";
import { claimed, finished, newRun, newThread, said, started } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

export function givenBackSuite({ records }: RecordsSite): void {
  const givenBack = async (threadId: string) => {
    const claim = await claimed(records(), threadId);
    await records().events.append(claim, [said("begun")]);
    await records().runs.release(claim);
    return claim;
  };
  const logOf = async (runId: string) =>
    (await records().events.read(runId, 0, 10)).map(({ data }) => JSON.parse(data).text);

  describe("a run that was begun and given back", () => {
    test.each(["interrupt", "rollback"] as const)(
      "is not ended by a request to %s, but by the next worker, and no older one has a say in it",
      async (action) => {
        const threadId = await newThread(records(), "a");
        const runId = await started(records(), "a", threadId);
        const old = await givenBack(threadId);
        const asked = await records().runs.requestCancel("a", runId, action, [said("end")]);
        expect(asked).toMatchObject({ status: "pending", cancel: action });
        expect(await logOf(runId)).toEqual(["begun"]);
        expect(await records().runs.threadsToWakeUp(1000)).toContain(threadId);
        const next = await claimed(records(), threadId);
        expect(next.run).toMatchObject({ run_id: runId, cancel: action });
        expect(await records().events.append(old, [said("late")])).toBeUndefined();
        expect(await finished(records(), old)).toBe(false);
        expect(await finished(records(), next)).toBe(true);
        await sleep(5);
        expect(await records().runs.requestCancel("a", runId, action)).toBeUndefined();
      },
    );

    test.each(["interrupt", "rollback"] as const)(
      "is told of a run that displaces it by %s, and ends before that one begins",
      async (strategy) => {
        const threadId = await newThread(records(), "a");
        const first = await started(records(), "a", threadId);
        await givenBack(threadId);
        const unbegun = await started(records(), "a", threadId);
        const result = await records().runs.start(newRun("a", threadId, { strategy }));
        expect(result).toMatchObject({
          displaced: [
            { run_id: first, status: "pending", cancel: strategy },
            { run_id: unbegun, status: "interrupted", cancel: strategy },
          ],
        });
        const next = await claimed(records(), threadId);
        expect(next.run).toMatchObject({ run_id: first, cancel: strategy });
        await finished(records(), next);
        expect(result).toMatchObject({ run: { run_id: (await claimed(records(), threadId)).run.run_id } });
      },
    );

    test("is ended as was asked first, whoever asks for something else behind it", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await started(records(), "a", threadId);
      await givenBack(threadId);
      await records().runs.requestCancel("a", runId, "rollback");
      await records().runs.start(newRun("a", threadId, { strategy: "interrupt" }));
      expect((await claimed(records(), threadId)).run).toMatchObject({ run_id: runId, cancel: "rollback" });
    });

    test("goes on before one that came earlier and may begin only now", async () => {
      await eventually(async () => {
        const threadId = await newThread(records(), "a");
        const later = await started(records(), "a", threadId, { notBefore: Date.now() + 300 });
        const runId = await started(records(), "a", threadId);
        const begun = await givenBack(threadId);
        // It fails where all this took too long.
        expect(begun.run.run_id).toBe(runId);
        await sleep(400);
        const next = await claimed(records(), threadId);
        expect(next.run.run_id).toBe(runId);
        await finished(records(), next);
        expect((await claimed(records(), threadId)).run.run_id).toBe(later);
      });
    });

    test("is not taken back as if it had never been asked for", async () => {
      const threadId = await newThread(records(), "a");
      const runId = await started(records(), "a", threadId);
      await givenBack(threadId);
      expect(await records().runs.withdraw("a", runId)).toBe(false);
      expect(await logOf(runId)).toEqual(["begun"]);
    });
  });

  test("a run that was given back before it was begun ends at once when that is asked for", async () => {
    const threadId = await newThread(records(), "a");
    const runId = await started(records(), "a", threadId);
    await records().runs.release(await claimed(records(), threadId));
    const ended = await records().runs.requestCancel("a", runId, "rollback", [said("end")]);
    expect(ended).toMatchObject({ status: "interrupted" });
    expect(await logOf(runId)).toEqual(["end"]);
  });
}
