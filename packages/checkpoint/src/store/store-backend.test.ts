/** Files of agents in our stores: the suite of all backends, and what our stores make possible. */
import { StoreBackend } from "deepwright";
import { backendSuite } from "deepwright/testing";
import { afterAll, describe, expect, test } from "vitest";
import { scratchFile } from "../sqlite/scratch-for-tests.ts";
import { testDatabase } from "../test-support/postgres.ts";
import type { DurableStore } from "./durable-store.ts";
import { PostgresStore } from "./postgres-store.ts";
import { SqliteStore } from "./sqlite-store.ts";

const database = await testDatabase();
const path = scratchFile();
const opened: DurableStore[] = [];

afterAll(async () => {
  for (const store of opened) await store.close();
  await database.drop();
});

const kept = async (store: Promise<DurableStore>): Promise<DurableStore> => {
  opened.push(await store);
  return store;
};

describe.each<[string, () => Promise<DurableStore>]>([
  ["SQLite", () => kept(SqliteStore.open(path))],
  ["Postgres", () => kept(PostgresStore.open(database.url))],
])("StoreBackend in %s", async (name, open) => {
  const store = await open();
  let cases = 0;
  const fresh = (on: DurableStore = store) =>
    new StoreBackend({ store: on, namespace: ["case", `${cases}`] });

  backendSuite(
    { describe, test },
    {
      name: `in ${name}`,
      open: () => {
        cases += 1;
        return { backend: fresh() };
      },
      canAppend: true,
      canDelete: true,
      canTransfer: true,
      runs: 5,
    },
  );

  test("listing and matching names asks for no value, and grep only for those its filter lets through", async () => {
    const files = new StoreBackend({ store, namespace: ["listing"] });
    for (let index = 0; index < 30; index++)
      await files.write(`/dir${index % 3}/file${index}.${index % 2 ? "md" : "ts"}`, "needle");
    const before = values(store);
    expect((await files.ls("/dir1")).files).toHaveLength(10);
    expect((await files.glob("**/*.ts")).files).toHaveLength(15);
    expect(values(store) - before).toBe(0);
    expect((await files.grep("needle", "/", "dir0/*.md")).matches).toHaveLength(5);
    expect(values(store) - before).toBeLessThanOrEqual(6);
  });

  test("of creators in two connections one succeeds, and edits of one file all land", async () => {
    const other = await open();
    const backends = [store, other].map((on) => new StoreBackend({ store: on, namespace: ["race"] }));
    const one = (index: number) => backends[index % 2] as StoreBackend;
    const created = await Promise.all(Array.from({ length: 10 }, (_, n) => one(n).write("/new", `${n}`)));
    expect(created.filter(({ error }) => error === undefined)).toHaveLength(1);
    const lines = Array.from({ length: 10 }, (_, n) => `line ${n};`);
    await one(0).write("/edited", lines.join("\n"));
    const edits = await Promise.all(lines.map((line, n) => one(n).edit("/edited", line, line.toUpperCase())));
    expect(edits.every(({ error }) => error === undefined)).toBe(true);
    expect((await one(1).read("/edited")).content).toBe(lines.join("\n").toUpperCase());
  });

  test("identities with periods, bytes, and names too long for a key", async () => {
    const files = new StoreBackend({ store, namespace: ["ada@example.com", "files"] });
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    expect(await files.uploadFiles([["/all.bin", bytes]])).toEqual([{ path: "/all.bin", error: null }]);
    expect((await files.downloadFiles(["/all.bin"]))[0]?.content).toEqual(bytes);
    const other = new StoreBackend({ store, namespace: ["ada@example", "com", "files"] });
    expect((await other.ls("/")).files).toEqual([]);
    const long = `/${"x".repeat(2_000)}`;
    expect(await files.write(long, "x")).toMatchObject({ code: "INVALID_PATH" });
    expect(await files.read(long)).toMatchObject({ code: "INVALID_PATH" });
  });
});

/** How many values were fetched through this store so far. */
function values(store: DurableStore): number {
  const counted = store as DurableStore & { fetched?: number };
  if (counted.fetched === undefined) {
    counted.fetched = 0;
    const batch = store.batch.bind(store);
    counted.batch = async (operations) => {
      const results = await batch(operations);
      counted.fetched =
        (counted.fetched ?? 0) +
        results.flat().filter((item) => item !== null && typeof item === "object").length;
      return results;
    };
  }
  return counted.fetched;
}
