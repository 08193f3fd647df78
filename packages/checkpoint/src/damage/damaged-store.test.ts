import { expect, test } from "vitest";
import { openDatabase } from "../sqlite/driver.ts";
import { scratchFile } from "../sqlite/scratch-for-tests.ts";
import { SqliteStore } from "../store/sqlite-store.ts";
import { outcome } from "./threads-for-tests.ts";

const HIT = "(SELECT id FROM dw_items WHERE item_key = 'hit')";
const PAGES = 700;

/** Every item has one vector. */
const index = {
  dims: 2,
  embeddings: {
    embedQuery: async () => [1, 0],
    embedDocuments: async (texts: string[]) => texts.map(() => [1, 0]),
  } as never,
};

async function storeWith(sql: string): Promise<SqliteStore> {
  const path = scratchFile();
  const store = await SqliteStore.open(path, { index });
  for (const key of ["first", "hit", "last"]) await store.put(["place", key], key, { key });
  const database = openDatabase(path, { timeout: 10_000, enableForeignKeyConstraints: false });
  database.exec(sql);
  database.close();
  return store;
}

test.each<[string, readonly string[]]>([
  [`UPDATE dw_items SET namespace = x'00' WHERE id = ${HIT}`, ["search", "list"]],
  [`UPDATE dw_items SET namespace = 'place' WHERE id = ${HIT}`, ["search", "list"]],
  [`UPDATE dw_items SET namespace = 'a..b.' WHERE id = ${HIT}`, ["search", "list"]],
  [`UPDATE dw_items SET item_key = x'00' WHERE id = ${HIT}`, ["search"]],
  [`UPDATE dw_items SET created_at = 'x' WHERE id = ${HIT}`, ["get", "search", "keys"]],
  [`UPDATE dw_items SET updated_at = 4611686018427387904 WHERE id = ${HIT}`, ["get", "search", "keys"]],
  [`UPDATE dw_items SET ttl = 'x' WHERE id = ${HIT}`, ["get", "search"]],
  [`UPDATE dw_items SET expires_at = 'x' WHERE id = ${HIT}`, []],
  [`UPDATE dw_item_values SET body = '{' WHERE item = ${HIT}`, ["get", "search", "filter"]],
  [`UPDATE dw_item_values SET body = x'00' WHERE item = ${HIT}`, ["get", "search", "filter"]],
  [`DELETE FROM dw_item_values WHERE item = ${HIT}`, ["query"]],
  [`UPDATE dw_item_vectors SET vector = 'x' WHERE item = ${HIT}`, ["query"]],
  [`UPDATE dw_item_vectors SET vector = x'00' WHERE item = ${HIT}`, []],
])("an item somebody edited tells so, and other items are as before: %s", async (sql, tells) => {
  await using store = await storeWith(sql);
  const found = {
    get: await outcome(() => store.get(["place", "hit"], "hit")),
    keys: await outcome(() => store.listItems(["place", "hit"])),
    search: await outcome(() => store.search([])),
    filter: await outcome(() => store.search([], { filter: { key: "hit" } })),
    query: await outcome(() => store.search([], { query: "hit" })),
    list: await outcome(() => store.listNamespaces({ maxDepth: 1 })),
  };
  const told = Object.entries(found).filter(([, result]) => result === "STORAGE_CORRUPT");
  expect(told.map(([act]) => act)).toEqual(expect.arrayContaining([...tells]));
  expect(Object.values(found).filter((result) => result !== "ok" && result !== "STORAGE_CORRUPT")).toEqual(
    [],
  );
  for (const key of ["first", "last"]) {
    expect((await store.get(["place", key], key))?.value).toEqual({ key });
    expect(await store.search(["place", key])).toHaveLength(1);
  }
});

test.each(["CAST(x'ff' || CAST(id AS TEXT) || x'2e' AS TEXT)", "'place'"])(
  "lists of many items whose namespaces are %s end",
  async (namespace) => {
    await using store = await storeWith(
      `WITH RECURSIVE counting(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counting WHERE n < ${PAGES})
        INSERT INTO dw_items (namespace, item_key, created_at, updated_at) SELECT 'x.', n, 1, 1 FROM counting;
      INSERT INTO dw_item_values SELECT id, '{}' FROM dw_items WHERE namespace = 'x.';
      UPDATE dw_items SET namespace = ${namespace} WHERE namespace = 'x.'`,
    );
    const told = ["ok", "STORAGE_CORRUPT"];
    expect(told).toContain(await outcome(() => store.listNamespaces({ maxDepth: 1 })));
    expect(told).toContain(await outcome(() => store.search([], { filter: { key: "none" } })));
  },
);
