/** The log of a run. */
import { describe, expect, test, vi } from "vitest";
import { eventually } from "../../../../../scripts/test-time.ts";
import { claimed, finished, newThread, said, started } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

export function eventsSuite({ records, again }: RecordsSite): void {
  async function begun() {
    const threadId = await newThread(records(), "a");
    const runId = await started(records(), "a", threadId);
    return { threadId, runId, claim: await claimed(records(), threadId) };
  }

  describe("events", () => {
    test("of many writers at once have numbers without gaps, each log its own", async () => {
      const runs = await Promise.all(Array.from({ length: 5 }, begun));
      const lasts = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          records().events.append(runs[index % 5]!.claim, [said(`${index} a`), said(`${index} b`)]),
        ),
      );
      expect(lasts.filter((last) => last === 2)).toHaveLength(5);
      for (const { runId } of runs) {
        const log = await records().events.read(runId, 0, 1000);
        expect(log.map(({ sequence }) => sequence)).toEqual(
          Array.from({ length: 40 }, (_, index) => index + 1),
        );
      }
    });

    test("are in the order they were appended, and read on from any number", async () => {
      const { runId, claim } = await begun();
      await Promise.all(
        Array.from({ length: 30 }, (_, index) => records().events.append(claim, [said(`${index}`)])),
      );
      const log = await records().events.read(runId, 0, 1000);
      expect(log.map(({ data }) => JSON.parse(data).text)).toEqual(
        Array.from({ length: 30 }, (_, index) => `${index}`),
      );
      expect(await records().events.read(runId, 10, 5)).toEqual(log.slice(10, 15));
      expect(await records().events.read(runId, 30, 5)).toEqual([]);
      expect(await records().events.read("no such run", 0, 5)).toEqual([]);
    });

    test("that are large can be read in pieces, which are cut between letters", async () => {
      const { runId, claim } = await begun();
      const letters = ["a", "é", "€", "😀"];
      const data = JSON.stringify(letters.join("").repeat(300_000));
      await records().events.append(claim, [said("small"), { event: "values", data }, said("behind")]);
      const [small, large, behind] = await records().events.skim(runId, 0, 100);
      expect([small?.bytes, large?.bytes, behind?.bytes]).toEqual([
        undefined,
        Buffer.byteLength(data),
        undefined,
      ]);
      expect([small?.data, large?.data, behind?.data]).toEqual([said("small").data, "", said("behind").data]);
      let read = "";
      for (let from = 0; ; from += 500_001) {
        const piece = await records().events.piece(runId, 2, from, 500_001);
        if (piece === "") break;
        expect(piece.isWellFormed()).toBe(true);
        read += piece;
      }
      expect(read === data).toBe(true);
      expect(await records().events.piece(runId, 99, 0, 10)).toBe("");
    });

    test("that are large come a few at a time, and none is left out", async () => {
      const { runId, claim } = await begun();
      const data = JSON.stringify("x".repeat(3 * 1024 * 1024));
      for (let index = 0; index < 4; index += 1)
        await records().events.append(claim, [{ event: "values", data }]);
      const sequences: number[] = [];
      for (;;) {
        const some = await records().events.read(runId, sequences.at(-1) ?? 0, 100);
        if (some.length === 0) break;
        expect(some.length).toBeLessThanOrEqual(2);
        sequences.push(...some.map(({ sequence }) => sequence));
      }
      expect(sequences).toEqual([1, 2, 3, 4]);
    });

    test("of ended runs go when they are old, others stay", async () => {
      const old = await begun();
      const going = await begun();
      for (const { claim } of [old, going]) await records().events.append(claim, [said("one")]);
      await finished(records(), old.claim);
      await records().events.sweep(Date.now() - 60_000);
      expect(await records().events.read(old.runId, 0, 10)).toHaveLength(1);
      await records().events.sweep(Date.now() + 1);
      expect(await records().events.read(old.runId, 0, 10)).toEqual([]);
      expect(await records().events.read(going.runId, 0, 10)).toHaveLength(1);
      expect(await records().runs.get("a", old.runId)).toMatchObject({ status: "success" });
    });
  });

  describe("who watches a run", () => {
    test("hears of events, of a request to cancel and of the end, and of nothing after it stopped", async () => {
      const { runId, claim } = await begun();
      const changed = vi.fn();
      const stop = records().events.watch(runId, changed);
      const heard = async (act: () => Promise<unknown>) => {
        changed.mockClear();
        await act();
        await eventually(() => expect(changed).toHaveBeenCalled());
      };
      await heard(() => records().events.append(claim, [said("one")]));
      await heard(() => records().runs.requestCancel("a", runId, "interrupt"));
      await heard(() => finished(records(), claim));
      stop();
      changed.mockClear();
      await records().runs.delete("a", runId);
      expect(changed).not.toHaveBeenCalled();
    });

    test("hears of what others wrote, and never misses the end", async () => {
      const { runId, claim } = await begun();
      const other = await again();
      let last = 0;
      let reading = Promise.resolve();
      const stop = other.events.watch(runId, () => {
        reading = reading.then(async () => {
          last = (await other.events.read(runId, last, 100)).at(-1)?.sequence ?? last;
        });
      });
      for (let index = 1; index <= 3; index += 1) {
        await records().events.append(claim, [said(`${index}`)]);
        await eventually(() => expect(last).toBe(index));
      }
      stop();
      await reading;
      await other.close();
    });
  });
}
