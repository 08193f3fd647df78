/** Every second COMMIT counts but is not answered, so its work runs twice: homes and stores must not mind. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { putStep, readStep, tree, uuid } from "../home/content-for-tests.ts";
import type { Home } from "../home/home.ts";
import { PostgresStore } from "../store/postgres-store.ts";
import { type LossyProxy, lossyProxy } from "../test-support/lossy-proxy.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { openPostgresHome } from "./postgres-home.ts";

let database: TestDatabase;
let proxy: LossyProxy;
let home: Home;

beforeAll(async () => {
  database = await testDatabase();
  proxy = await lossyProxy(database.url, (commit) => commit % 2 === 1);
  home = await openPostgresHome(proxy.url);
});

afterAll(async () => {
  await home.close();
  proxy.close();
  await database.drop();
});

test("steps are stored once", async () => {
  for (let n = 1; n <= 10; n += 1) {
    await putStep(home, { threadId: "t", id: uuid(n), content: [tree(`content ${n}`)] });
  }
  expect((await home.thread("t"))?.checkpointCount).toBe(10);
  expect((await readStep(home, "t"))?.content).toEqual([tree("content 10")]);
  expect(Number((await database.query("SELECT count(*) FROM dw_objects"))[0]!.count)).toBe(10);
  expect(proxy.lost).toBeGreaterThan(5);
});

test("images of files are stored once", async () => {
  for (let n = 0; n < 4; n += 1) {
    const image = { checkpointId: uuid(1), place: "/", path: `/${n}`, before: undefined, after: undefined };
    await home.put({ threadId: "t", namespace: "", epoch: 0, fence: undefined, now: 1, objects: [], image });
  }
  expect(await home.listImages("t")).toHaveLength(4);
});

test("a claim that was granted unheard is granted again", async () => {
  for (let n = 0; n < 4; n += 1) {
    const answer = await home.claim("claimed", `holder ${n}`, 60_000);
    expect(answer.held).toBe(true);
    if (answer.held) await home.release("claimed", answer.fence);
  }
});

test("a thread is copied once, and one that was there is not taken for the copy", async () => {
  for (let n = 0; n < 4; n += 1) await home.copyThread("t", `copy ${n}`, 1);
  expect((await readStep(home, "copy 3"))?.content).toEqual([tree("content 10")]);
  for (let n = 0; n < 4; n += 1)
    await expect(home.copyThread("t", `copy ${n}`, 1)).rejects.toMatchObject({ code: "THREAD_EXISTS" });
  expect(await home.claim("copy 0", "holder", 60_000)).toMatchObject({ held: true });
});

test("a deletion deletes", async () => {
  for (let n = 0; n < 4; n += 1) {
    await putStep(home, { threadId: "gone", id: uuid(n), content: [tree(`content ${n}`)] });
    await home.deleteThread("gone");
    expect(await home.thread("gone")).toBeUndefined();
  }
  expect((await readStep(home, "t"))?.content).toEqual([tree("content 10")]);
});

test("items of a store are put and deleted", async () => {
  const store = await PostgresStore.open(proxy.url);
  for (let n = 0; n < 6; n += 1) await store.put(["a"], `k${n}`, { n });
  for (let n = 0; n < 3; n += 1) await store.delete(["a"], `k${n}`);
  expect((await store.search(["a"])).map(({ value }) => value.n)).toEqual([3, 4, 5]);
  await store.close();
});
