/** Assistants and threads: whose they are, how they are found. */
import { randomUUID } from "node:crypto";
import type { SearchThreads } from "@deepwright/protocol";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../../../scripts/test-time.ts";
import { EVERYONE, type RetiredThread, type ThreadRecord, type ThreadRecords } from "../records.ts";
import {
  assistant,
  claimed,
  cron,
  finished,
  newRun,
  newThread,
  said,
  started,
  thread,
} from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

const PAGE = { limit: 10, offset: 0 };
const HOSTILE_KEYS = [
  "x') OR '1'='1",
  "a[",
  "$.x",
  'owner"',
  "a.b",
  "__proto__",
  "constructor",
  "%",
  "\\",
  "a\u0000b",
  "",
];

export function listingsSuite({ records }: RecordsSite): void {
  describe("owners", () => {
    test("SV-06 a foreign id is an id that is not there, for every method", async () => {
      const [a, b] = [randomUUID(), randomUUID()];
      const threadId = await newThread(records(), a);
      const runId = await started(records(), a, threadId);
      const mine = assistant({ metadata: { team: "x" } });
      const myCron = cron({ thread_id: threadId });
      await records().assistants.put(a, mine, { ifExists: "raise" });
      await records().crons.put(a, myCron);
      const { assistants, threads, runs, crons } = records();
      expect(await threads.get(b, threadId)).toBeUndefined();
      expect(await threads.patch(b, threadId, { metadata: { x: 1 } })).toBeUndefined();
      expect(await threads.search(b, { ...PAGE, ids: [threadId] })).toEqual([]);
      expect(await threads.delete(b, threadId)).toBe(false);
      const squatter = thread(b, { thread_id: threadId });
      expect(await threads.put(b, squatter, { ifExists: "do_nothing" })).toBe("exists");
      expect(await runs.get(b, runId)).toBeUndefined();
      expect(await runs.list(b, threadId, PAGE)).toEqual([]);
      expect(await runs.delete(b, runId)).toBe(false);
      expect(await runs.requestCancel(b, runId, "interrupt")).toBeUndefined();
      expect(await runs.start(newRun(b, threadId))).toEqual({ kind: "no-thread" });
      expect(await assistants.get(b, mine.assistant_id)).toBeUndefined();
      expect(await assistants.versions(b, mine.assistant_id, PAGE)).toEqual([]);
      expect(await assistants.setLatest(b, mine.assistant_id, 1)).toBeUndefined();
      expect(await assistants.delete(b, mine.assistant_id)).toBe(false);
      expect(await crons.get(b, myCron.cron_id)).toBeUndefined();
      expect(await crons.delete(b, myCron.cron_id)).toBe(false);
      expect(await threads.get(a, threadId)).toMatchObject({ metadata: {}, status: "busy" });
      expect(await runs.get(a, runId)).toMatchObject({ status: "pending" });
      expect(await assistants.get(a, mine.assistant_id)).toEqual(mine);
    });

    test("SV-09 listings and counts without a filter are of the caller's own", async () => {
      const [a, b] = [randomUUID(), randomUUID()];
      for (const owner of [a, b, b]) {
        await newThread(records(), owner);
        await records().assistants.put(owner, assistant({ name: owner }), { ifExists: "raise" });
        await records().crons.put(owner, cron({ next_run_date: null }));
      }
      for (const [owner, own] of [
        [a, 1],
        [b, 2],
        [randomUUID(), 0],
      ] as const) {
        expect(await records().threads.search(owner, PAGE)).toHaveLength(own);
        expect(await records().threads.count(owner, {})).toBe(own);
        expect(await records().crons.search(owner, PAGE)).toHaveLength(own);
        expect(await records().crons.count(owner, {})).toBe(own);
        const assistants = await records().assistants.search(owner, { limit: 1000, offset: 0 });
        expect(assistants.filter(({ name }) => name === a || name === b)).toHaveLength(own);
      }
    });

    test("two owners may give their assistants and crons the same id", async () => {
      const [a, b] = [randomUUID(), randomUUID()];
      const shared = assistant({ name: "of a" });
      await records().assistants.put(a, shared, { ifExists: "raise" });
      await records().assistants.put(b, { ...shared, name: "of b" }, { ifExists: "raise" });
      expect(await records().assistants.get(a, shared.assistant_id)).toMatchObject({ name: "of a" });
      await records().assistants.delete(b, shared.assistant_id);
      expect(await records().assistants.get(a, shared.assistant_id)).toMatchObject({ name: "of a" });
    });

    test("the server's assistants belong to everyone and are changed by nobody", async () => {
      const owner = randomUUID();
      const ours = assistant({ graph_id: randomUUID() });
      const { assistants } = records();
      await assistants.put(EVERYONE, ours, { ifExists: "replace" });
      expect(await assistants.get(owner, ours.assistant_id)).toEqual(ours);
      const found = { ...PAGE, graph_id: ours.graph_id };
      expect(await assistants.search(owner, found)).toEqual([ours]);
      expect(await assistants.search(owner, { ...found, served: ["x", ours.graph_id] })).toEqual([ours]);
      for (const served of [[], ["x"]]) {
        expect(await assistants.search(owner, { ...found, served })).toEqual([]);
        expect(await assistants.count(owner, { graph_id: ours.graph_id, served })).toBe(0);
      }
      expect(await assistants.put(owner, ours, { ifExists: "replace" })).toBe("exists");
      expect(await assistants.setLatest(owner, ours.assistant_id, 1)).toBeUndefined();
      expect(await assistants.delete(owner, ours.assistant_id)).toBe(false);
    });
  });

  describe("a filter", () => {
    test("finds what contains it: scalars, objects, elements of lists", async () => {
      const owner = randomUUID();
      const metadata = {
        team: "x",
        size: 1,
        on: true,
        none: null,
        deep: { a: { b: 1 }, c: 2 },
        list: [1, { a: 1, b: 2 }],
      };
      const values = { messages: [{ type: "human", content: "hi" }], title: "T" };
      const { thread_id: threadId } = thread(owner);
      await records().threads.put(owner, thread(owner, { thread_id: threadId, metadata, values }), {
        ifExists: "raise",
      });
      const found = async (query: Pick<SearchThreads, "metadata" | "values">) => {
        const threads = await records().threads.search(owner, { ...PAGE, ...query });
        expect(await records().threads.count(owner, query)).toBe(threads.length);
        return threads.length === 1;
      };
      for (const yes of [
        {},
        { team: "x" },
        { size: 1, on: true },
        { none: null },
        { deep: { a: {} } },
        { team: "x", deep: { a: { b: 1 } } },
        { list: [{ a: 1 }] },
        { list: [] },
      ]) {
        expect(await found({ metadata: yes }), JSON.stringify(yes)).toBe(true);
      }
      for (const no of [
        { team: "y" },
        { size: "1" },
        { on: 1 },
        { missing: null },
        { deep: { a: 1 } },
        { deep: { c: 2, d: 1 } },
        { list: [2] },
        { list: { 0: 1 } },
        { team: { length: 1 } },
      ]) {
        expect(await found({ metadata: no }), JSON.stringify(no)).toBe(false);
      }
      expect(await found({ values: { title: "T" } })).toBe(true);
      expect(await found({ values: { messages: [{ content: "hi" }] } })).toBe(true);
      expect(await found({ values: { title: "other" } })).toBe(false);
    });

    test("SV-08 keys, values, sort orders and pages are never part of a query", async () => {
      const [a, b] = [randomUUID(), randomUUID()];
      await records().threads.put(b, thread(b, { metadata: { secret: "b" } }), { ifExists: "raise" });
      for (const key of HOSTILE_KEYS) {
        const metadata = Object.fromEntries([[key, key]]);
        const nested = Object.fromEntries([[key, metadata]]);
        expect(await records().threads.search(a, { ...PAGE, metadata })).toEqual([]);
        expect(await records().threads.search(a, { ...PAGE, metadata: nested, values: nested })).toEqual([]);
        expect(await records().threads.count(a, { metadata, values: nested })).toBe(0);
        expect(await records().assistants.search(a, { ...PAGE, metadata, name: key || "'" })).toEqual([]);
      }
      for (const [index, key] of HOSTILE_KEYS.entries()) {
        const metadata = Object.fromEntries([
          [key, index],
          ["nested", { [key]: index }],
        ]);
        await records().threads.put(a, thread(a, { metadata }), { ifExists: "raise" });
        const filter = Object.fromEntries([[key, index]]);
        expect(await records().threads.search(a, { ...PAGE, metadata: filter })).toMatchObject([
          { owner: a },
        ]);
        expect(await records().threads.search(a, { ...PAGE, metadata })).toHaveLength(1);
      }
      const bad = {
        limit: -1,
        offset: -1,
        sort_by: "owner; DROP TABLE dw_srv_threads",
        sort_order: "desc, 1",
      };
      expect(await records().threads.search(a, bad as never)).toEqual([]);
      const large = { limit: 1e9, offset: 0, ids: ["x') OR ('1'='1"] };
      expect(await records().threads.search(a, large)).toEqual([]);
      expect(await records().threads.search(a, { ...bad, limit: "1; DROP" } as never)).toEqual([]);
      expect(await records().threads.search(a, { ...bad, limit: 1e9 } as never)).toHaveLength(
        HOSTILE_KEYS.length,
      );
    });

    test("on status sees threads busy while they have something to do", async () => {
      const owner = randomUUID();
      const [busy, idle] = [await newThread(records(), owner), await newThread(records(), owner)];
      await started(records(), owner, busy);
      expect(await records().threads.search(owner, { ...PAGE, status: "busy" })).toMatchObject([
        { thread_id: busy },
      ]);
      expect(await records().threads.search(owner, { ...PAGE, status: "idle" })).toMatchObject([
        { thread_id: idle },
      ]);
      expect(await records().threads.count(owner, { status: "busy" })).toBe(1);
    });
  });

  describe("threads", () => {
    test("are sorted and paged, the newest first, whatever the clock said", async () => {
      const owner = randomUUID();
      const ids: string[] = [];
      for (const minutes of [5, 1, 3, 3]) {
        const created_at = new Date(Date.now() + minutes * 60_000).toISOString();
        const one = thread(owner, { created_at });
        ids.push(one.thread_id);
        await records().threads.put(owner, one, { ifExists: "raise" });
      }
      const listed = async (query: object) =>
        (await records().threads.search(owner, { ...PAGE, ...query })).map((one) =>
          ids.indexOf(one.thread_id),
        );
      expect(await listed({})).toEqual([3, 2, 1, 0]);
      expect(await listed({ sort_order: "asc", limit: 2, offset: 1 })).toEqual([1, 2]);
      expect(await listed({ sort_by: "created_at", sort_order: "asc" })).toEqual([1, 2, 3, 0]);
      expect(await listed({ sort_by: "created_at", sort_order: "desc", metadata: {}, limit: 2 })).toEqual([
        0, 3,
      ]);
    });

    test("exist once; put again they stay as they are", async () => {
      const owner = randomUUID();
      const first = thread(owner, { metadata: { a: 1 } });
      expect(await records().threads.put(owner, first, { ifExists: "raise" })).toMatchObject({
        metadata: { a: 1 },
      });
      const second = { ...first, metadata: { a: 2 } };
      expect(await records().threads.put(owner, second, { ifExists: "raise" })).toBe("exists");
      expect(await records().threads.put(owner, second, { ifExists: "do_nothing" })).toMatchObject({
        metadata: { a: 1 },
      });
    });

    test("are found by the metadata they have after a patch", async () => {
      const owner = randomUUID();
      const one = thread(owner, { metadata: { a: 1, b: 1 } });
      await records().threads.put(owner, one, { ifExists: "raise" });
      const patched = await records().threads.patch(owner, one.thread_id, { metadata: { b: 2 } });
      expect(patched).toMatchObject({ metadata: { a: 1, b: 2 } });
      expect(await records().threads.count(owner, { metadata: { b: 1 } })).toBe(0);
      expect(await records().threads.count(owner, { metadata: { a: 1, b: 2 } })).toBe(1);
    });

    test("show what was noted of them", async () => {
      const owner = randomUUID();
      const threadId = await newThread(records(), owner);
      const state = { status: "error", values: { a: 1 }, interrupts: {}, error: { message: "no" } } as const;
      const noted = async (shown: Parameters<ThreadRecords["note"]>[1]) => {
        await records().threads.note((await records().threads.get(owner, threadId))!, shown);
        return records().threads.get(owner, threadId);
      };
      expect(await noted(state)).toMatchObject(state);
      const busy = await noted({ status: "busy", values: null, interrupts: {} });
      expect(busy).toMatchObject({ status: "error", values: null });
      expect(busy).not.toHaveProperty("error");
    });

    test("take their runs, events, mail, crons and marks with them", async () => {
      const owner = randomUUID();
      const one = thread(owner, { metadata: { a: 1 } });
      const threadId = one.thread_id;
      await records().threads.put(owner, one, { ifExists: "raise" });
      const runId = await started(records(), owner, threadId);
      await records().events.append(await claimed(records(), threadId), [said("one")]);
      await records().mail.post(owner, threadId, { id: "m", kind: "steer", message: "hi" });
      await records().crons.put(owner, cron({ thread_id: threadId }));
      expect(await records().threads.delete(owner, threadId)).toBe(true);
      expect(await records().threads.delete(owner, threadId)).toBe(false);
      expect(await records().runs.get(owner, runId)).toBeUndefined();
      expect(await records().events.read(runId, 0, 10)).toEqual([]);
      expect(await records().mail.waiting(threadId, ["steer"])).toEqual([]);
      expect(await records().crons.count(owner, {})).toBe(0);
      await records().threads.put(owner, thread(owner, { thread_id: threadId }), { ifExists: "raise" });
      expect(await records().threads.count(owner, { metadata: { a: 1 } })).toBe(0);
      expect(await records().mail.post(owner, threadId, { id: "m", kind: "steer", message: "hi" })).toBe(
        true,
      );
    });

    test("that are retired are there for nobody, and their id is taken until they are dropped", async () => {
      const [a, b] = [randomUUID(), randomUUID()];
      const { threads, runs, mail } = records();
      const one = thread(a, { metadata: { a: 1 }, values: { secret: 1 } });
      const { thread_id: threadId } = one;
      const first = (await threads.put(a, one, { ifExists: "raise" })) as ThreadRecord;
      await started(records(), a, threadId);
      expect(await threads.retire(b, threadId)).toBeUndefined();
      expect(await threads.retire(a, threadId)).toBe("busy");
      await finished(records(), await claimed(records(), threadId));
      const retired = (await threads.retire(a, threadId, first.incarnation)) as RetiredThread;
      expect(await threads.retire(a, threadId)).toEqual(retired);
      expect(await threads.has(first)).toBe(false);
      expect(await threads.get(a, threadId)).toBeUndefined();
      expect(await threads.search(a, { ...PAGE, ids: [threadId] })).toEqual([]);
      expect(await runs.start(newRun(a, threadId))).toEqual({ kind: "no-thread" });
      expect(await mail.post(a, threadId, { id: "m", kind: "steer", message: "hi" })).toBe(false);
      expect(await threads.patch(a, threadId, { metadata: { x: 1 } })).toBeUndefined();
      const again = (owner: string) =>
        threads.put(owner, thread(owner, { thread_id: threadId }), { ifExists: "do_nothing" });
      expect([await again(a), await again(b)]).toEqual(["exists", "exists"]);
      expect(await threads.get(EVERYONE, threadId)).toMatchObject({ values: null });
      await threads.drop(retired);
      expect(await threads.isTaken(threadId)).toBe(false);
      const second = (await again(b)) as ThreadRecord;
      expect(second.incarnation).not.toBe(first.incarnation);
      // Whoever comes late, with what was true of the first one.
      await threads.drop(retired);
      expect(await threads.retire(a, threadId, first.incarnation)).toBeUndefined();
      await threads.note(first, { status: "idle", values: { secret: 1 }, interrupts: {} });
      expect(await threads.get(b, threadId)).toMatchObject({ values: null });
      expect(await threads.has(second)).toBe(true);
    });

    test("that are over their time are named to whoever deletes them", async () => {
      const owner = randomUUID();
      const one = thread(owner);
      await records().threads.put(owner, one, { ifExists: "raise", expiresAt: Date.now() + 50 });
      await newThread(records(), owner);
      await eventually(async () => {
        const expired = await records().threads.expired(100);
        const { thread_id, incarnation } = (await records().threads.get(owner, one.thread_id))!;
        expect(expired.filter((each) => each.owner === owner)).toEqual([{ owner, thread_id, incarnation }]);
      });
    });
  });

  describe("assistants", () => {
    test("keep their versions, and an earlier one can be made the current", async () => {
      const owner = randomUUID();
      const first = assistant({ name: "one", metadata: { a: 1 } });
      const id = first.assistant_id;
      const { assistants } = records();
      await assistants.put(owner, first, { ifExists: "raise" });
      expect(await assistants.put(owner, { ...first, name: "x" }, { ifExists: "raise" })).toBe("exists");
      expect(await assistants.put(owner, { ...first, name: "x" }, { ifExists: "do_nothing" })).toEqual(first);
      expect(await assistants.put(owner, first, { ifExists: "replace" })).toEqual(first);
      const second = await assistants.put(
        owner,
        { ...first, name: "two", metadata: { a: 2 } },
        { ifExists: "replace" },
      );
      expect(second).toMatchObject({ name: "two", version: 2 });
      expect(await assistants.count(owner, { metadata: { a: 1 } })).toBe(0);
      expect(await assistants.setLatest(owner, id, 1)).toEqual(first);
      expect(await assistants.setLatest(owner, id, 7)).toBeUndefined();
      expect(await assistants.get(owner, id)).toEqual(first);
      expect(await assistants.count(owner, { metadata: { a: 1 } })).toBe(1);
      expect(await assistants.put(owner, { ...first, name: "three" }, { ifExists: "replace" })).toMatchObject(
        { version: 3 },
      );
      expect((await assistants.versions(owner, id, PAGE)).map(({ version }) => version)).toEqual([3, 2, 1]);
      expect(await assistants.delete(owner, id)).toBe(true);
      expect(await assistants.versions(owner, id, PAGE)).toEqual([]);
    });

    test("are found by graph, by a part of their name and by metadata, and sorted", async () => {
      const owner = randomUUID();
      for (const [name, graph_id] of [
        ["Zeta 100%", "g"],
        ["alpha", "g"],
        ["Beta", "h"],
      ] as const) {
        await records().assistants.put(
          owner,
          assistant({ name, graph_id, metadata: { of: owner, deep: { name } } }),
          { ifExists: "raise" },
        );
      }
      const names = async (query: object) =>
        (await records().assistants.search(owner, { ...PAGE, metadata: { of: owner }, ...query })).map(
          ({ name }) => name,
        );
      expect(await names({})).toEqual(["Beta", "alpha", "Zeta 100%"]);
      expect(await names({ graph_id: "g" })).toEqual(["alpha", "Zeta 100%"]);
      expect(await names({ name: "TA" })).toEqual(["Beta", "Zeta 100%"]);
      expect(await names({ name: "%" })).toEqual(["Zeta 100%"]);
      expect(await names({ sort_by: "name", sort_order: "asc", limit: 2 })).toEqual(["Beta", "Zeta 100%"]);
      expect(await names({ metadata: { of: owner, deep: { name: "alpha" } } })).toEqual(["alpha"]);
      expect(await records().assistants.count(owner, { metadata: { deep: { name: "alpha" } } })).toBe(1);
    });
  });
}
