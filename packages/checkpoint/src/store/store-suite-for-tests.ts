/** Tests that every store passes. */
import { AsyncBatchedStore } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { conditionalSuite } from "./conditional-suite-for-tests.ts";
import { differentialSuite } from "./differential-suite-for-tests.ts";
import type { DurableStore, StoreOptions } from "./durable-store.ts";
import { hostileSuite } from "./hostile-suite-for-tests.ts";
import { ttlSuite } from "./ttl-suite-for-tests.ts";
import { vectorSuite } from "./vector-suite-for-tests.ts";

/** One place for items. */
export interface StorePlace {
  open(options?: StoreOptions): Promise<DurableStore>;
  clear(): Promise<void>;
  /** Runs statements behind the store's back. */
  execute(sql: string): Promise<void>;
  /** How many rows a table of the store has. */
  count(table: string): Promise<number>;
  /** A query that gives the numbers from 1 to `last` as `n`. */
  numbers(last: number): string;
}

export function storeSuite(name: string, place: StorePlace): void {
  describe(`${name} store`, () => {
    let store: DurableStore;
    const opened: DurableStore[] = [];
    const open = async (options?: StoreOptions) => {
      const one = await place.open(options);
      opened.push(one);
      return one;
    };
    beforeEach(async () => {
      store ??= await open();
      await place.clear();
    });
    afterAll(async () => {
      for (const one of opened) await one.close();
    });
    itemSuite(() => store, open);
    listSuite(() => store, place);
    hostileSuite(() => store, place);
    conditionalSuite(() => store, open);
    differentialSuite(() => store, place);
    ttlSuite(open, place);
    vectorSuite(open, place);
  });
}

function itemSuite(store: () => DurableStore, open: () => Promise<DurableStore>): void {
  test("an item comes back with its place and its times", async () => {
    const before = Date.now();
    await store().put(["users", "7"], "name", { first: "Ada" });
    const item = await store().get(["users", "7"], "name");
    expect(item).toEqual({
      namespace: ["users", "7"],
      key: "name",
      value: { first: "Ada" },
      createdAt: expect.any(Date),
      updatedAt: expect.any(Date),
    });
    expect(item!.createdAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(await store().get(["users"], "name")).toBeNull();
    expect(await store().get(["users", "7"], "other")).toBeNull();
  });

  test("a second put keeps when it was made and changes when it was changed", async () => {
    await store().put(["a"], "k", { n: 1 });
    const first = await store().get(["a"], "k");
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store().put(["a"], "k", { n: 2 });
    const second = await store().get(["a"], "k");
    expect(second!.value).toEqual({ n: 2 });
    expect(second!.createdAt).toEqual(first!.createdAt);
    expect(second!.updatedAt.getTime()).toBeGreaterThan(first!.updatedAt.getTime());
  });

  test("what was deleted is gone, and deleting what is not there is no error", async () => {
    await store().put(["a"], "k", { n: 1 });
    await store().delete(["a"], "k");
    await store().delete(["a"], "k");
    expect(await store().get(["a"], "k")).toBeNull();
    expect(await store().listNamespaces()).toEqual([]);
  });

  test("a batch answers in order, reads see what was there before, and the last put of a key counts", async () => {
    await store().put(["a"], "k", { n: 1 });
    const results = await store().batch([
      { namespace: ["a"], key: "k", value: { n: 2 } },
      { namespace: ["a"], key: "k" },
      { namespacePrefix: [] },
      { matchConditions: undefined, limit: 10, offset: 0 },
      { namespace: ["b"], key: "k", value: { n: 3 } },
      { namespace: ["a"], key: "k", value: { n: 4 } },
    ] as const as never);
    expect(results).toMatchObject([null, { value: { n: 1 } }, [{ value: { n: 1 } }], [["a"]], null, null]);
    expect((await store().get(["a"], "k"))!.value).toEqual({ n: 4 });
    expect((await store().get(["b"], "k"))!.value).toEqual({ n: 3 });
  });

  test("a batch with a mistake in it changes nothing", async () => {
    const batch = store().batch([
      { namespace: ["a"], key: "k", value: { n: 1 } },
      { namespace: ["a.b"], key: "k", value: { n: 1 } },
    ]);
    await expect(batch).rejects.toMatchObject({ code: "INVALID_NAMESPACE" });
    expect(await store().get(["a"], "k")).toBeNull();
  });

  test("two stores on one place see each other, and writers of one key do not fail", async () => {
    const other = await open();
    await Promise.all(Array.from({ length: 30 }, (_, n) => (n % 2 ? store() : other).put(["a"], "k", { n })));
    const found = await other.search(["a"]);
    expect(found).toHaveLength(1);
    expect((await store().get(["a"], "k"))!.value).toEqual(found[0]!.value);
  });

  test("it works inside a graph, which batches what it is asked", async () => {
    const batched = new AsyncBatchedStore(store());
    batched.start();
    await Promise.all([batched.put(["g"], "1", { n: 1 }), batched.put(["g"], "2", { n: 2 })]);
    const [item, items] = await Promise.all([batched.get(["g"], "1"), batched.search(["g"])]);
    await batched.stop();
    expect(item!.value).toEqual({ n: 1 });
    expect(items.map(({ key }) => key)).toEqual(["1", "2"]);
  });

  test("after closing or stopping it says that it is closed", async () => {
    for (const end of ["close", "stop", Symbol.asyncDispose] as const) {
      const closing = await open();
      await closing[end]();
      await closing[end]();
      await expect(closing.get(["a"], "k")).rejects.toMatchObject({ code: "STORAGE_CLOSED" });
    }
  });
}

function listSuite(store: () => DurableStore, place: StorePlace): void {
  const fill = (...namespaces: string[][]) =>
    store().batch(namespaces.map((namespace) => ({ namespace, key: "k", value: {} })));

  test("namespaces are matched at either end, with wildcards, and cut at a depth", async () => {
    const all = [["a", "b", "c"], ["a", "b", "d"], ["a", "x", "c"], ["b", "b", "c"], ["a"]];
    await fill(...all);
    const list = (options: object) => store().listNamespaces(options);
    expect(await list({})).toEqual([
      ["a"],
      ["a", "b", "c"],
      ["a", "b", "d"],
      ["a", "x", "c"],
      ["b", "b", "c"],
    ]);
    expect(await list({ prefix: ["a", "b"] })).toEqual([
      ["a", "b", "c"],
      ["a", "b", "d"],
    ]);
    expect(await list({ prefix: ["*", "b"], suffix: ["c"] })).toEqual([
      ["a", "b", "c"],
      ["b", "b", "c"],
    ]);
    expect(await list({ prefix: ["a", "*", "c"] })).toEqual([
      ["a", "b", "c"],
      ["a", "x", "c"],
    ]);
    expect(await list({ suffix: ["*", "c"], maxDepth: 2 })).toEqual([
      ["a", "b"],
      ["a", "x"],
      ["b", "b"],
    ]);
    expect(await list({ maxDepth: 1 })).toEqual([["a"], ["b"]]);
    expect(await list({ maxDepth: 2, limit: 2, offset: 1 })).toEqual([
      ["a", "b"],
      ["a", "x"],
    ]);
  });

  test("many namespaces are listed page by page without loss", async () => {
    await place.execute(
      `INSERT INTO dw_items (namespace, item_key, created_at, updated_at)
         SELECT 'n' || (10000 + n) || '.sub' || (n % 3) || '.', 'k', 0, 0 FROM (${place.numbers(1_200)}) AS t`,
    );
    const listed = await store().listNamespaces({ limit: 2_000 });
    expect(listed).toHaveLength(1_200);
    expect(await store().listNamespaces({ limit: 5, offset: 1_100 })).toEqual(listed.slice(1_100, 1_105));
    expect(await store().listNamespaces({ maxDepth: 1, limit: 2_000 })).toEqual(listed.map(([top]) => [top]));
    expect(await store().listNamespaces({ suffix: ["sub1"], limit: 2_000 })).toHaveLength(400);
  });

  test("listing 100,000 items reads no value", async () => {
    await place.execute(
      `INSERT INTO dw_items (namespace, item_key, created_at, updated_at)
         SELECT 'user' || (n % 100) || '.notes.', 'k' || n, 0, 0 FROM (${place.numbers(100_000)}) AS t`,
    );
    await place.execute("ALTER TABLE dw_item_values RENAME TO hidden_values");
    try {
      expect(await store().listNamespaces({ suffix: ["notes"], limit: 1_000 })).toHaveLength(100);
      await expect(store().search([])).rejects.toThrow();
    } finally {
      await place.execute("ALTER TABLE hidden_values RENAME TO dw_item_values");
    }
  });

  test("a search pages through what it finds, with and without a filter", async () => {
    await store().batch(
      Array.from({ length: 450 }, (_, n) => ({
        namespace: ["a", String(n % 3)],
        key: `k${n}`,
        value: { n },
      })),
    );
    const all = await store().search([], { limit: Number.POSITIVE_INFINITY });
    expect(all).toHaveLength(450);
    const even = all.filter(({ value }) => value.n > 99);
    for (const [offset, limit] of [
      [0, 10],
      [345, 10],
      [100, 240],
      [400, 5],
      [0, 0],
    ] as const) {
      expect(await store().search(["a"], { offset, limit })).toEqual(all.slice(offset, offset + limit));
      const filter = { n: { $gt: 99 } };
      expect(await store().search(["a"], { filter, offset, limit })).toEqual(
        even.slice(offset, offset + limit),
      );
    }
    expect(await store().search([])).toHaveLength(10);
  });

  test.each([
    { limit: -1 },
    { offset: -1 },
    { limit: 1.5 },
    { limit: Number.NaN },
    { limit: "1; DROP" as never },
  ])("counts that are none are refused: %o", async (options) => {
    await expect(store().search([], options)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(store().listNamespaces(options)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });
}
