/** Every second COMMIT counts but is not answered, so its work runs twice: storages and stores must not mind. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { putStep, readStep, tree, uuid } from "../storage/content-for-tests.ts";
import type { ThreadStorage } from "../storage/storage.ts";
import { PostgresStore } from "../store/postgres-store.ts";
import { type LossyProxy, lossyProxy } from "../test-support/lossy-proxy.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { openPostgresStorage } from "./postgres-storage.ts";

let database: TestDatabase;
let proxy: LossyProxy;
let storage: ThreadStorage;

beforeAll(async () => {
  database = await testDatabase();
  proxy = await lossyProxy(database.url, (commit) => commit % 2 === 1);
  storage = await openPostgresStorage(proxy.url);
});

afterAll(async () => {
  await storage.close();
  proxy.close();
  await database.drop();
});

test("steps are stored once", async () => {
  for (let n = 1; n <= 10; n += 1) {
    await putStep(storage, { threadId: "t", id: uuid(n), content: [tree(`content ${n}`)] });
  }
  expect((await storage.thread("t"))?.checkpointCount).toBe(10);
  expect((await readStep(storage, "t"))?.content).toEqual([tree("content 10")]);
  expect(Number((await database.query("SELECT count(*) FROM dw_objects"))[0]!.count)).toBe(10);
  expect(proxy.lost).toBeGreaterThan(5);
});

test("images of files are stored once", async () => {
  for (let n = 0; n < 4; n += 1) {
    const image = { checkpointId: uuid(1), place: "/", path: `/${n}`, before: undefined, after: undefined };
    await storage.put({
      threadId: "t",
      namespace: "",
      epoch: 0,
      fence: undefined,
      now: 1,
      objects: [],
      image,
    });
  }
  expect(await storage.listImages("t")).toHaveLength(4);
});

test("a claim that was granted unheard is granted again", async () => {
  for (let n = 0; n < 4; n += 1) {
    const answer = await storage.claim("claimed", `holder ${n}`, 60_000);
    expect(answer.held).toBe(true);
    if (answer.held) await storage.release("claimed", answer.fence);
  }
});

test("a thread is copied once, and one that was there is not taken for the copy", async () => {
  for (let n = 0; n < 4; n += 1) await storage.copyThread("t", `copy ${n}`, 1);
  expect((await readStep(storage, "copy 3"))?.content).toEqual([tree("content 10")]);
  for (let n = 0; n < 4; n += 1)
    await expect(storage.copyThread("t", `copy ${n}`, 1)).rejects.toMatchObject({ code: "THREAD_EXISTS" });
  expect(await storage.claim("copy 0", "holder", 60_000)).toMatchObject({ held: true });
});

test("a deletion deletes", async () => {
  for (let n = 0; n < 4; n += 1) {
    await putStep(storage, { threadId: "gone", id: uuid(n), content: [tree(`content ${n}`)] });
    await storage.deleteThread("gone");
    expect(await storage.thread("gone")).toBeUndefined();
  }
  expect((await readStep(storage, "t"))?.content).toEqual([tree("content 10")]);
});

test("items of a store are put and deleted", async () => {
  const store = await PostgresStore.open(proxy.url);
  for (let n = 0; n < 6; n += 1) await store.put(["a"], `k${n}`, { n });
  for (let n = 0; n < 3; n += 1) await store.delete(["a"], `k${n}`);
  expect((await store.search(["a"])).map(({ value }) => value.n)).toEqual([3, 4, 5]);
  await store.close();
});
