/** Crons and mail. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { cron, newThread } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

const PAGE = { limit: 10, offset: 0 };

export function scheduleSuite({ records, again, edit }: RecordsSite): void {
  test("a thread whose removal began is named though the clock was set back: its id would stay taken", async () => {
    const threadId = await newThread(records(), "a");
    await records().threads.retire("a", threadId);
    const isNamed = async () =>
      (await records().threads.expired(1_000)).some((each) => each.thread_id === threadId);
    expect(await isNamed()).toBe(false);
    await edit(`UPDATE dw_srv_threads SET expires_at = expires_at + 3600000 WHERE thread_id = '${threadId}'`);
    expect(await isNamed()).toBe(true);
  });

  describe("crons", () => {
    test("that are due are handed to one caller each, while many ask at once", async () => {
      const owner = randomUUID();
      const past = new Date(Date.now() - 60_000).toISOString();
      const future = new Date(Date.now() + 3_600_000).toISOString();
      const ids = Array.from({ length: 20 }, () => randomUUID());
      for (const cron_id of ids) await records().crons.put(owner, cron({ cron_id, next_run_date: past }));
      await records().crons.put(owner, cron({ next_run_date: future }));
      await records().crons.put(owner, cron({ next_run_date: past, enabled: false }));
      const other = await again();
      const taken = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? records() : other).crons.takeDue(Date.now(), () => future),
        ),
      );
      const mine = taken.flat().filter((one) => one.owner === owner);
      expect(mine.map((one) => one.cron.cron_id).sort()).toEqual(ids.toSorted());
      expect(mine.every((one) => one.cron.next_run_date === past)).toBe(true);
      expect(await records().crons.get(owner, ids[0] as string)).toMatchObject({ next_run_date: future });
      await other.close();
    });

    test("are found and counted by their metadata", async () => {
      const owner = randomUUID();
      for (const metadata of [{ team: "a", at: { floor: 1 } }, { team: "a" }, { team: "b" }, {}])
        await records().crons.put(owner, cron({ metadata }));
      const found = async (metadata: Record<string, unknown>) => {
        const crons = await records().crons.search(owner, { ...PAGE, metadata });
        expect(await records().crons.count(owner, { metadata })).toBe(crons.length);
        return crons.length;
      };
      expect(await found({ team: "a" })).toBe(2);
      expect(await found({ at: { floor: 1 } })).toBe(1);
      expect(await found({ team: "c" })).toBe(0);
      expect(await found({})).toBe(4);
      expect(
        await records().crons.search(owner, { limit: 1, offset: 1, metadata: { team: "a" } }),
      ).toHaveLength(1);
    });

    test("without a next date are not due again until they are put again", async () => {
      const owner = randomUUID();
      const one = cron();
      await records().crons.put(owner, one);
      const due = async () =>
        (await records().crons.takeDue(Date.now(), () => null)).filter((each) => each.owner === owner);
      expect(await due()).toEqual([{ owner, cron: one }]);
      expect(await due()).toEqual([]);
      expect(await records().crons.get(owner, one.cron_id)).toMatchObject({ next_run_date: null });
      await records().crons.put(owner, one);
      expect(await due()).toHaveLength(1);
    });

    test("that were changed since they were read are not advanced", async () => {
      const owner = randomUUID();
      const one = cron();
      await records().crons.put(owner, one);
      const due = (await records().crons.due(Date.now())).filter((each) => each.owner === owner);
      const next = new Date(Date.now() + 60_000).toISOString();
      await records().crons.put(owner, { ...one, next_run_date: next });
      expect(await records().crons.advance(due.map((each) => ({ due: each, next: null })))).toEqual([]);
      expect(await records().crons.get(owner, one.cron_id)).toMatchObject({ next_run_date: next });
    });

    test("are found by assistant and thread, sorted, paged, counted and deleted", async () => {
      const owner = randomUUID();
      const threadId = await newThread(records(), owner);
      const dates = [3, 1, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
      for (const [index, next_run_date] of dates.entries()) {
        await records().crons.put(
          owner,
          cron({
            cron_id: `c${index}`,
            next_run_date,
            thread_id: index === 0 ? threadId : null,
            assistant_id: index < 2 ? "x" : "y",
          }),
        );
      }
      const found = async (query: object) =>
        (await records().crons.search(owner, { ...PAGE, ...query })).map((one) => one.cron_id);
      expect(await found({ sort_by: "next_run_date", sort_order: "asc" })).toEqual(["c1", "c2", "c0"]);
      expect(await found({ assistant_id: "x" })).toEqual(["c1", "c0"]);
      expect(await found({ thread_id: threadId })).toEqual(["c0"]);
      expect(await records().crons.count(owner, { assistant_id: "x" })).toBe(2);
      expect(await records().crons.delete(owner, "c1")).toBe(true);
      expect(await found({ limit: 1, offset: 1 })).toEqual(["c0"]);
    });
  });

  describe("mail", () => {
    test("waits in the order it came until it is settled, and an id comes once", async () => {
      const threadId = await newThread(records(), "a");
      const { mail } = records();
      const message = { content: "hi \u0000 there" };
      for (const id of ["b", "a", "c"])
        expect(await mail.post("a", threadId, { id, kind: "steer", message })).toBe(true);
      expect(await mail.post("a", threadId, { id: "d", kind: "completion", message: null })).toBe(true);
      expect(await mail.post("a", threadId, { id: "a", kind: "steer", message: "again" })).toBe(false);
      expect(await mail.waiting(threadId, ["steer"])).toEqual(
        ["b", "a", "c"].map((id) => ({ id, kind: "steer", message, afterRun: 0 })),
      );
      expect((await mail.waiting(threadId, ["completion", "steer"])).map(({ id }) => id)).toEqual([
        "b",
        "a",
        "c",
        "d",
      ]);
      await mail.settle(threadId, ["b", "a", "unknown"]);
      expect((await mail.waiting(threadId, ["steer"])).map(({ id }) => id)).toEqual(["c"]);
      expect(await mail.post("a", threadId, { id: "a", kind: "steer", message: "again" })).toBe(false);
    });

    test("of one id, posted many times at once, comes once", async () => {
      const threadId = await newThread(records(), "a");
      const other = await again();
      const posted = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          (index % 2 === 0 ? records() : other).mail.post("a", threadId, {
            id: "task",
            kind: "completion",
            message: index,
          }),
        ),
      );
      expect(posted.filter(Boolean)).toHaveLength(1);
      expect(await records().mail.waiting(threadId, ["completion"])).toHaveLength(1);
      await other.close();
    });

    test("for a thread that is not there is refused", async () => {
      expect(await records().mail.post("a", randomUUID(), { id: "m", kind: "steer", message: 1 })).toBe(
        false,
      );
    });
  });
}
