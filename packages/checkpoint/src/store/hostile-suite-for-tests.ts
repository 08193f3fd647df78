/** Namespaces, keys, filters and values as somebody would write who wants something else to happen. */
import { describe, expect, test } from "vitest";
import type { DurableStore } from "./durable-store.ts";
import type { StorePlace } from "./store-suite-for-tests.ts";

const LONE_SURROGATE = "\ud800";

export function hostileSuite(store: () => DurableStore, place: StorePlace): void {
  describe("namespaces", () => {
    test.each([
      "*",
      "",
      "..",
      ".",
      "a.b",
      "__proto__",
      "a\0b",
      LONE_SURROGATE,
      "x".repeat(1_001),
      7,
      null,
      {},
    ])("ST-02 the part %j is refused", async (part) => {
      const namespace = ["a", part as string];
      const refused = { code: "INVALID_NAMESPACE", name: "InvalidNamespaceError" };
      await expect(store().put(namespace, "k", {})).rejects.toMatchObject(refused);
      await expect(store().get(namespace, "k")).rejects.toMatchObject(refused);
      await expect(store().delete(namespace, "k")).rejects.toMatchObject(refused);
      await expect(store().search(namespace)).rejects.toMatchObject(refused);
      if (part !== "*" && typeof part === "string" && part.length < 1_000) {
        await expect(store().listNamespaces({ prefix: namespace })).rejects.toMatchObject(refused);
      }
    });

    test("ST-02 nothing is put into no namespace or into that of LangGraph", async () => {
      await expect(store().put([], "k", {})).rejects.toMatchObject({ code: "INVALID_NAMESPACE" });
      await expect(store().put(["langgraph"], "k", {})).rejects.toMatchObject({ code: "INVALID_NAMESPACE" });
      await expect(store().put("users" as never, "k", {})).rejects.toMatchObject({
        code: "INVALID_NAMESPACE",
      });
    });

    test.each(["a\0b", LONE_SURROGATE, "x".repeat(1_001), 7, undefined])(
      "the key %j is refused",
      async (key) => {
        await expect(store().put(["a"], key as string, {})).rejects.toMatchObject({ code: "INVALID_ID" });
      },
    );

    test("ST-05 ids made to look like another's namespace reach only their own", async () => {
      const ids = [
        "user1",
        "user10",
        "user1%",
        "user_",
        "%",
        "a:b",
        "a/b",
        "a",
        "a\u001fb",
        "a'b",
        'a"b',
        "a\\",
        "A",
        "é",
        "e\u0301",
      ];
      for (const id of ids) await store().put(["memories", id], "secret", { of: id });
      await store().put(["memories", "a", "b"], "secret", { of: "a, b" });
      for (const id of ids) {
        const found = await store().search(["memories", id], { limit: 100 });
        const own = id === "a" ? ["a", "a, b"] : [id];
        expect(found.map(({ value }) => value.of)).toEqual(own);
        expect((await store().get(["memories", id], "secret"))!.value).toEqual({ of: id });
        const listed = await store().listNamespaces({ prefix: ["memories", id] });
        expect(listed).toHaveLength(own.length);
      }
      await store().delete(["memories", "%"], "secret");
      expect(await store().search([], { limit: 100 })).toHaveLength(ids.length);
    });

    test("keys keep apart what looks alike", async () => {
      const keys = [
        "",
        " ",
        "k",
        "K",
        "k ",
        "k%",
        "k'; DROP TABLE dw_items; --",
        "$1",
        "\u001f",
        "😀",
        "x".repeat(1_000),
      ];
      for (const key of keys) await store().put(["a"], key, { key });
      for (const key of keys) expect((await store().get(["a"], key))!.value).toEqual({ key });
      expect(await place.count("dw_items")).toBe(keys.length);
    });
  });

  describe("filters", () => {
    test.each([
      { n: { "$gt'": 1 } },
      { n: { "$gt) OR 1=1 --": 1 } },
      { n: { $where: "1" } },
      { n: { $gt: 1, other: 2 } },
      { n: { $gt: { $gt: 1 } } },
      { n: { $gt: "1 OR 1=1" } },
      { n: { $in: 1 } },
      { n: { $nin: { length: 1 } } },
      { n: () => 1 },
      { n: 1n },
      { n: { $gt: Symbol("1") } },
      [1],
      "n = 1",
      5,
    ])("ST-03 the filter %o is refused", async (filter) => {
      await store().put(["a"], "k", { n: 5 });
      await expect(store().search(["a"], { filter: filter as never })).rejects.toMatchObject({
        code: "INVALID_FILTER",
      });
    });

    test.each([
      { "$gt'": 1 },
      { "n' OR '1'='1": 1 },
      { 'n") OR 1=1 --': 5 },
      { "n.x": 1 },
      { constructor: { $in: [1] } },
      { toString: { $gte: 0 } },
      JSON.parse('{"__proto__": {"$eq": 1}}'),
    ])("ST-03 the field in %o is a name and nothing else", async (filter) => {
      await store().put(["a"], "k", { n: 5 });
      expect(await store().search(["a"], { filter })).toEqual([]);
    });

    test("fields with any name are found by it", async () => {
      const value = JSON.parse('{"__proto__": 1, "a.b": 2, "c\'d": 3, "$x": 4}');
      await store().put(["a"], "k", value);
      for (const [field, wanted] of Object.entries(value)) {
        const filter = JSON.parse(JSON.stringify({ x: wanted }).replace("x", field));
        expect(await store().search(["a"], { filter })).toHaveLength(1);
      }
    });

    test("lists and objects are compared by what is in them", async () => {
      await store().put(["a"], "k", { tags: ["x", { y: 1 }], at: new Date(0) });
      const count = async (filter: object) => (await store().search(["a"], { filter })).length;
      expect(await count({ tags: ["x", { y: 1 }] })).toBe(1);
      expect(await count({ tags: ["x"] })).toBe(0);
      expect(await count({ tags: { $in: [["x", { y: 1 }]] } })).toBe(1);
      expect(await count({ at: new Date(0) })).toBe(1);
      expect(await count({ missing: undefined })).toBe(1);
      expect(await count({ tags: {} })).toBe(1);
    });
  });

  describe("values", () => {
    test("R-33 any JSON comes back as it was", async () => {
      const value = {
        nul: "a\0b",
        "nul\0key": 1,
        lone: LONE_SURROGATE,
        [`lone${LONE_SURROGATE}`]: [LONE_SURROGATE, "\udc00\ud800"],
        mark: "\uFEFFx",
        emoji: "👩‍👩‍👧",
        escapes: '\\u0000 \\x00 \\000 "quoted" \\',
        numbers: [0, -1.5, 1e300, 5e-324, 2 ** 53],
        nested: { deep: [[[[]]]], empty: {}, nothing: null, yes: true },
        lc: { lc: 1, type: "constructor", id: ["x"], kwargs: {} },
        big: "x".repeat(3_000_000),
      };
      await store().put(["a"], "k", value);
      expect((await store().get(["a"], "k"))!.value).toEqual(value);
      expect((await store().search(["a"]))[0]!.value).toEqual(value);
    });

    test("R-33 __proto__ is data", async () => {
      const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
      await store().put(["a"], "k", JSON.parse(text));
      const { value } = (await store().get(["a"], "k"))!;
      expect(JSON.stringify(value)).toBe(text);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    test("what JSON cannot write is refused, and what it drops is dropped", async () => {
      const loop: Record<string, unknown> = {};
      loop.loop = loop;
      for (const value of [loop, { n: 1n }, undefined as never]) {
        await expect(store().put(["a"], "k", value)).rejects.toMatchObject({ code: "VALUE_NOT_STORABLE" });
      }
      await store().put(["a"], "k", { at: new Date(0), gone: undefined });
      expect((await store().get(["a"], "k"))!.value).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    });

    test("what a read gave may be changed without changing what is stored", async () => {
      await store().put(["a"], "k", { list: [1] });
      (await store().get(["a"], "k"))!.value.list.push(2);
      expect((await store().get(["a"], "k"))!.value).toEqual({ list: [1] });
    });
  });
}
