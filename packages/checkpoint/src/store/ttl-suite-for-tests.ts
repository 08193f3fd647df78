import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import type { DurableStore, StoreOptions } from "./durable-store.ts";
import type { StorePlace } from "./store-suite-for-tests.ts";

const MINUTE = 60_000;
const START = new Date("2026-01-01").getTime();

export function ttlSuite(open: (options?: StoreOptions) => Promise<DurableStore>, place: StorePlace): void {
  describe("time to live", () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["Date"], now: START });
    });
    afterEach(() => {
      vi.useRealTimers();
    });
    const after = (minutes: number) => vi.setSystemTime(START + minutes * MINUTE);

    test("what has expired is invisible everywhere at once", async () => {
      const store = await open({ ttl: { refreshOnRead: false } });
      await store.put(["a"], "short", { n: 1 }, undefined, { ttl: 10 });
      await store.put(["b"], "long", { n: 1 });
      after(9.9);
      expect(await store.get(["a"], "short")).not.toBeNull();
      after(10);
      expect(await store.get(["a"], "short")).toBeNull();
      expect((await store.search([])).map(({ key }) => key)).toEqual(["long"]);
      expect((await store.search([], { filter: { n: 1 } })).map(({ key }) => key)).toEqual(["long"]);
      expect(await store.listNamespaces()).toEqual([["b"]]);
    });

    test("the default counts unless a put has its own, or null", async () => {
      const store = await open({ ttl: { defaultMinutes: 5, refreshOnRead: false } });
      await store.put(["a"], "default", {});
      await store.put(["a"], "own", {}, undefined, { ttl: 60 });
      await store.put(["a"], "forever", {}, undefined, { ttl: null });
      after(6);
      expect((await store.search(["a"])).map(({ key }) => key)).toEqual(["own", "forever"]);
      after(1e6);
      expect((await store.search(["a"])).map(({ key }) => key)).toEqual(["forever"]);
    });

    test("reading lets an item live on, by get and by search", async () => {
      const store = await open();
      await store.put(["a"], "got", {}, undefined, { ttl: 10 });
      await store.put(["b"], "found", {}, undefined, { ttl: 10 });
      await store.put(["c"], "unread", {}, undefined, { ttl: 10 });
      after(9);
      await store.get(["a"], "got");
      await store.search(["b"]);
      after(18);
      expect((await store.search([])).map(({ key }) => key)).toEqual(["got", "found"]);
    });

    test("an item put where one has expired is a new one", async () => {
      const store = await open();
      await store.put(["a"], "k", { n: 1 }, undefined, { ttl: 1 });
      after(2);
      await store.put(["a"], "k", { n: 2 });
      expect((await store.get(["a"], "k"))!.createdAt.getTime()).toBe(START + 2 * MINUTE);
      after(1e6);
      expect((await store.get(["a"], "k"))!.value).toEqual({ n: 2 });
    });

    test("sweeping removes all of what has expired and nothing else", async () => {
      const store = await open();
      const put = (key: string, ttl: number | null) => ({ namespace: ["a"], key, value: {}, ttl });
      await store.batch(Array.from({ length: 1_100 }, (_, n) => put(`k${n}`, n < 1_050 ? 1 : null)));
      after(2);
      expect(await store.sweep()).toBe(1_050);
      expect(await place.count("dw_items")).toBe(50);
      expect(await place.count("dw_item_values")).toBe(50);
      expect(await store.sweep()).toBe(0);
    });

    test("it sweeps by itself", async () => {
      const store = await open({ ttl: { sweepIntervalMinutes: 0.001 } });
      await store.put(["a"], "k", {}, undefined, { ttl: 1 });
      after(2);
      await eventually(async () => expect(await place.count("dw_items")).toBe(0));
      await store.close();
    });

    test.each([0, -1, Number.NaN, "5" as never])("%j minutes are refused", async (ttl) => {
      const store = await open();
      await expect(store.put(["a"], "k", {}, undefined, { ttl })).rejects.toMatchObject({
        code: "INVALID_OPTION",
      });
    });
  });
}
