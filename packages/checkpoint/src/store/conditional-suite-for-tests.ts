/** Listing keys without values, and putting only where nothing has changed. */
import { describe, expect, test } from "vitest";
import type { DurableStore, StoreOptions } from "./durable-store.ts";

type Open = (options?: StoreOptions) => Promise<DurableStore>;

export function conditionalSuite(store: () => DurableStore, open: Open): void {
  listItemsSuite(store);
  putIfSuite(store, open);
}

function listItemsSuite(store: () => DurableStore): void {
  describe("listItems", () => {
    const fill = async (...keys: string[]) => {
      for (const key of keys) await store().put(["files"], key, { content: key });
    };
    const keys = async (options?: Parameters<DurableStore["listItems"]>[1]) =>
      (await store().listItems(["files"], options)).map(({ key }) => key);

    test("gives the keys of exactly this namespace, in the order of their bytes, with their times", async () => {
      await fill("/b", "/a", "/～", "/\u{1f600}");
      await store().put(["files", "below"], "/x", { content: "x" });
      await store().put(["files2"], "/y", { content: "y" });
      expect(await keys()).toEqual(["/a", "/b", "/～", "/\u{1f600}"]);
      expect((await store().listItems(["files"]))[0]).toEqual({
        key: "/a",
        createdAt: expect.any(Date),
        updatedAt: expect.any(Date),
      });
    });

    test("a prefix is text, whatever a pattern would make of it", async () => {
      await fill("/a%/x", "/a_/x", "/ab/x", "/a", "/\u{10ffff}1", "/\u{10ffff}2");
      expect(await keys({ prefix: "/a%/" })).toEqual(["/a%/x"]);
      expect(await keys({ prefix: "/a_/" })).toEqual(["/a_/x"]);
      expect(await keys({ prefix: "/a" })).toEqual(["/a", "/a%/x", "/a_/x", "/ab/x"]);
      expect(await keys({ prefix: "/\u{10ffff}" })).toEqual(["/\u{10ffff}1", "/\u{10ffff}2"]);
      expect(await keys({ prefix: "\u{10ffff}" })).toEqual([]);
    });

    test("pages go on after the last key", async () => {
      await fill("/1", "/2", "/3", "/4", "/5");
      expect(await keys({ limit: 2 })).toEqual(["/1", "/2"]);
      expect(await keys({ limit: 2, after: "/2" })).toEqual(["/3", "/4"]);
      expect(await keys({ limit: 2, after: "/4" })).toEqual(["/5"]);
    });

    test("what has expired is not listed", async () => {
      await store().put(["files"], "/gone", { content: "" }, undefined, { ttl: 0.0005 });
      await fill("/there");
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(await keys()).toEqual(["/there"]);
    });
  });
}

function putIfSuite(store: () => DurableStore, open: Open): void {
  describe("putIf", () => {
    const value = async (key: string) => (await store().get(["files"], key))?.value;

    test("creates only where nothing is", async () => {
      expect(await store().putIf(["files"], "/a", { n: 1 }, null)).toBe(true);
      expect(await store().putIf(["files"], "/a", { n: 2 }, null)).toBe(false);
      expect(await value("/a")).toEqual({ n: 1 });
    });

    test("replaces and deletes only what is as expected", async () => {
      await store().put(["files"], "/a", { n: 1, text: "é\u{1f600}" });
      expect(await store().putIf(["files"], "/a", { n: 2 }, { n: 1 })).toBe(false);
      const { value: found } = (await store().get(["files"], "/a"))!;
      expect(await store().putIf(["files"], "/a", { n: 2 }, found)).toBe(true);
      expect(await value("/a")).toEqual({ n: 2 });
      expect(await store().putIf(["files"], "/a", null, { n: 1 })).toBe(false);
      expect(await store().putIf(["files"], "/a", null, { n: 2 })).toBe(true);
      expect(await value("/a")).toBeUndefined();
      expect(await store().putIf(["files"], "/a", { n: 3 }, { n: 2 })).toBe(false);
    });

    test("an expired item counts as nothing", async () => {
      await store().put(["files"], "/a", { n: 1 }, undefined, { ttl: 0.0005 });
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(await store().putIf(["files"], "/a", { n: 2 }, null)).toBe(true);
      expect(await value("/a")).toEqual({ n: 2 });
    });

    test("of many creators over two connections one succeeds, and no counted step is lost", async () => {
      const both = [store(), await open()];
      const created = await Promise.all(
        Array.from({ length: 20 }, (_, n) => both[n % 2]!.putIf(["files"], "/new", { n }, null)),
      );
      expect(created.filter(Boolean)).toHaveLength(1);
      await store().put(["files"], "/count", { n: 0 });
      const countUp = async (one: DurableStore): Promise<void> => {
        for (;;) {
          const { value: before } = (await one.get(["files"], "/count"))!;
          if (await one.putIf(["files"], "/count", { n: before.n + 1 }, before)) return;
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, n) => countUp(both[n % 2]!)));
      expect(await value("/count")).toEqual({ n: 20 });
    });
  });
}
